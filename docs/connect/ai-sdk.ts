// npm install ai @opentelemetry/api @opentelemetry/sdk-trace-base @opentelemetry/exporter-trace-otlp-proto
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { generateText } from 'ai';
import { model } from './model.js'; // yours, such as openai('gpt-5-mini')

// The exporter reads the variables above.
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] });

const { text } = await generateText({
  model,
  prompt: 'Greet Ada in one line.',
  experimental_telemetry: { isEnabled: true, functionId: 'greeter', tracer: provider.getTracer('ai') },
});
console.log(text);
await provider.shutdown(); // sends what is not sent yet
