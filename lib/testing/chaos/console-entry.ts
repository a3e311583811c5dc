import './sqlite-doom';
import '@/lib/server/main';
