package io.turbidite.feeds.command.watch;

import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Shows the events of a store that another process holds, as they happen. */
@Command(
        name = "tail",
        customSynopsis = "./turbidite tail STORE [--recent] [--json] [--debug]",
        description = {
            "Show what a store does that another process holds: flushes, merges, stalls, repairs and more.",
            "It begins with the newest events and goes on until Ctrl-C; docs/metrics.md explains each.",
        },
        sortOptions = false)
public final class TailCommand implements Callable<Integer> {
    /** Events that wait to be printed; a store has some in a second at most. */
    private static final int WAITING_COUNT_MAX = 1_024;

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Option(
            names = "--recent",
            description = "Show the newest events alone, and do not wait for more.")
    private boolean recent;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    public TailCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    @Override
    public Integer call() {
        return stores.use(given, store -> {
            if (stores.isShared()) {
                return recent ? printRecent(store.events()) : follow(store);
            }
            console.err()
                    .println("turbidite: no other process holds %s, so nothing happens in it"
                            .formatted(given.directory()));
            return ExitCode.FAILED;
        });
    }

    private int printRecent(StoreEvents events) {
        events.recent().forEach(this::print);
        return ExitCode.OK;
    }

    private int follow(Store store) {
        StoreEvents events = store.events();
        BlockingQueue<Optional<StoreEvent>> waiting = new ArrayBlockingQueue<>(WAITING_COUNT_MAX);
        AtomicBoolean stopped = new AtomicBoolean();
        AtomicLong lost = new AtomicLong();
        StoreEvents.Listener listener = event -> {
            if (!waiting.offer(Optional.of(event))) {
                lost.incrementAndGet();
            }
        };
        Runnable stop = () -> {
            stopped.set(true);
            var _ = waiting.offer(Optional.empty()); // one that is full wakes the command by itself
        };
        try (Interrupts.Watch watch = console.interrupts().watch(stop)) {
            events.listen(listener);
            List<StoreEvent> before = events.recent();
            before.forEach(this::print);
            console.out().flush();
            Set<StoreEvent> printed = Set.copyOf(before);
            while (!stopped.get() && !console.out().checkError()) {
                waiting.take().filter(event -> !printed.contains(event)).ifPresent(this::print);
                console.out().flush();
                long lostCount = lost.getAndSet(0);
                if (lostCount > 0) {
                    console.err().println("note: %d events came too fast".formatted(lostCount));
                }
            }
            return watch.interrupted() ? ExitCode.INTERRUPTED : ExitCode.OK;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ExitCode.INTERRUPTED;
        } finally {
            events.forget(listener);
        }
    }

    private void print(StoreEvent event) {
        Map<String, @Nullable Object> fields = Json.fields(event);
        fields.remove("wallMicros");
        Instant at = Instant.EPOCH.plus(event.wallMicros(), ChronoUnit.MICROS);
        String name = event.getClass().getSimpleName();
        if (common.json) {
            Json.Line line = Json.line().put("at", at).put("event", name);
            fields.forEach(line::put);
            line.printTo(console.out());
        } else {
            StringBuilder line = new StringBuilder().append(at).append(' ').append(name);
            fields.forEach(
                    (key, value) -> line.append(' ').append(key).append('=').append(text(value)));
            console.out().println(line);
        }
    }

    private static String text(@Nullable Object value) {
        String text = String.valueOf(value);
        return text.indexOf(' ') < 0 ? text : "'" + text + "'";
    }
}
