# In your clone of Rerail:
npm pack --workspace @rerail/sdk --pack-destination /tmp

# In your project, which has "type": "module" in its package.json:
npm install /tmp/rerail-sdk-0.1.0.tgz
npm install --save-dev typescript @types/node
npx tsc --target es2022 --module nodenext --strict agent.ts worker.ts
node worker.js
