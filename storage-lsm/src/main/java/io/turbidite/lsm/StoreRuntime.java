package io.turbidite.lsm;

import io.turbidite.core.Cleanup;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.engine.EngineRuntime;

import java.util.List;

/**
 * What any number of stores of a process share: buffer cache, write memory and I/O budget. The
 * threads of background work are the process's in any case; a store at rest has none.
 *
 * <pre>{@code
 * try (StoreRuntime runtime = StoreRuntime.create(RuntimeOptions.defaults())) {
 *     StoreOptions options = StoreOptions.defaults().withRuntime(runtime);
 *     try (Store one = Store.open(first, options);
 *             Store two = Store.open(second, options)) {
 *         ...
 *     }
 * }
 * }</pre>
 *
 * <p>When the write memory gets short, the store flushes that holds most of it; what has lain in
 * memory for long counts more, so what a store holds that nobody writes to is taken too. A store
 * whose disk is full keeps what it holds, and the others go on with the rest.
 *
 * <p><em>Thread-safe.</em> Close it after its stores.
 */
public final class StoreRuntime implements AutoCloseable {
    private final Tasks tasks;
    private final Meters meters;
    private final EngineRuntime engine;

    private StoreRuntime(Tasks tasks, Clock clock, RuntimeOptions options) {
        this.tasks = tasks;
        this.meters = new Meters(clock);
        this.engine = EngineRuntime.shared(
                tasks,
                clock,
                meters,
                new EngineRuntime.Budgets(
                        options.writeMemoryBytes(),
                        options.cacheBytes(),
                        options.queryMemoryBytes(),
                        options.ioBytesPerSecond()));
    }

    /** A runtime without stores. */
    public static StoreRuntime create(RuntimeOptions options) {
        return create(ThreadTasks.create("turbidite-runtime"), Clock.system(), options);
    }

    /**
     * A runtime without stores, with given tasks and clock; closes {@code tasks}.
     *
     * @param tasks where threads wait for pages that others read
     */
    public static StoreRuntime create(Tasks tasks, Clock clock, RuntimeOptions options) {
        return new StoreRuntime(tasks, clock, options);
    }

    /** The directories of the stores that are open, in the order in which they were opened. */
    public List<String> stores() {
        return engine.stores();
    }

    /** Instruments of what is shared; each store has those of its own. */
    public Meters meters() {
        return meters;
    }

    /** Bytes off the heap that the stores hold together now, the whole cache with them. */
    public long memoryBytes() {
        return engine.memory().bytesUsed();
    }

    /** The engine's form of it. */
    EngineRuntime engine() {
        return engine;
    }

    /**
     * Frees what was shared; a second time nothing happens.
     *
     * @throws InvalidRequestException naming the stores that are open; nothing has happened then
     */
    @Override
    public void close() {
        engine.close();
        new Cleanup().add(tasks::close).run();
    }

    @Override
    public String toString() {
        return "StoreRuntime[%d stores, %d bytes]".formatted(stores().size(), memoryBytes());
    }
}
