package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;

import org.junit.jupiter.api.Test;

import java.util.Map;

/** A tab that is left open for a day, at speed: the page's clock and its server are the test's. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleDayTest extends ConsoleFixture {
    private static final long RING_BYTES_MAX = 4_000_000;

    /** A model of its own, for the views' drawing would take minutes; ConsolePulseTest has them. */
    private static final String BEGIN = """
            const [description, done] = arguments;
            const day = { clock: Date.now(), second: 0, samples: 0, files: 1e6, descriptions: 0 };
            Date.now = () => day.clock;
            // at speed the timers of an hour's requests would be there at once
            AbortSignal.timeout = () => new AbortController().signal;
            const described = () => {
              const found = JSON.parse(description);
              found.lastTimestamp += day.second;
              found.events = [];
              for (const dataset of found.datasets) {
                for (const partition of dataset.partitions) {
                  partition.memoryBytes = day.second;
                  partition.indexes.forEach(index => { index.components[0].file = day.files++; });
                }
              }
              return JSON.stringify(found);
            };
            const stream = new ReadableStream({ start(controller) { day.controller = controller; } });
            window.fetch = async path => {
              if (path === '/v1/events') { return new Response(stream); }
              return new Response(path === '/v1/stores' ? '{"stores":[{"name":"reef"}]}' : described());
            };
            const encoder = new TextEncoder();
            // 200 figures, which are more than the page keeps
            const sample = () => {
              const figures = { 'memory.unflushed.bytes': 1 };
              for (let i = 0; i < 80; i++) { figures[`figure.${i}`] = day.second * i; }
              for (let i = 0; i < 20; i++) {
                figures[`time.${i}`] = { count: day.second, nanosSum: day.second * 3e6, p50Nanos: 1, p99Nanos: 2,
                  p999Nanos: 3, maxNanos: 4 };
              }
              return { at: new Date(day.clock).toISOString(), stores: { reef: figures }, feeds: {} };
            };
            const event = () => ({ at: new Date(day.clock).toISOString(), event: 'Flushed', number: day.second, store: 'reef',
              dataset: 'Tweets', partition: 0, bytesWritten: day.second });
            day.run = async seconds => {
              for (const end = day.second + seconds; day.second < end;) {
                let text = '';
                for (let i = 0; i < 10; i++) {
                  day.second++;
                  day.clock += 1000;
                  text += `event: sample\\ndata: ${JSON.stringify(sample())}\\n\\n`;
                  if (day.second % 3 === 0) { text += `event: store\\ndata: ${JSON.stringify(event())}\\n\\n`; }
                }
                const heard = new Promise(resume => {
                  day.resume = resume;
                });
                day.controller.enqueue(encoder.encode(text));
                await heard;
                await day.model.describe();
              }
            };
            import('/model.js').then(async ({ Model }) => {
              day.model = new Model();
              day.model.addEventListener('sample', () => { if (++day.samples === day.second) { day.resume(); } });
              day.model.addEventListener('description', () => { day.descriptions++; });
              await day.model.start();
              window.day = day;
              done(true);
            });
            """;

    @Test
    void aDayOfSamplesTakesTheRoomOfTheFirstHour() {
        browser.open(server.page("feeds"));
        browser.waitFor("#state", "well");
        var _ = browser.runLong(BEGIN, FixtureServer.text(store.described()));
        run(3_600);
        long first = browser.heapBytes();
        long ringFirst = ringBytes();
        for (int hour = 1; hour < 24; hour++) {
            run(3_600);
        }
        long last = browser.heapBytes();
        Map<?, ?> kept = (Map<?, ?>) browser.run("""
                return { samples: day.samples, length: day.model.ring.length, figures: day.model.ring.names().length,
                  last: day.model.ring.last('figure.1'), descriptionsEnough: day.descriptions >= 8000 };
                """);
        assertEquals(
                Map.of(
                        "samples",
                        86_400L,
                        "length",
                        3_600L,
                        "figures",
                        120L,
                        "last",
                        86_400L,
                        "descriptionsEnough",
                        true),
                kept);
        assertEquals(ringFirst, ringBytes());
        assertTrue(ringFirst <= RING_BYTES_MAX, ringFirst + " bytes");
        assertTrue(last < first * 1.2, first + " bytes became " + last);
    }

    private void run(int seconds) {
        var _ = browser.runLong(
                "const [seconds, done] = arguments; day.run(seconds).then(() => done(true))",
                seconds);
    }

    private static long ringBytes() {
        return (Long) browser.run("return day.model.ring.byteLength");
    }
}
