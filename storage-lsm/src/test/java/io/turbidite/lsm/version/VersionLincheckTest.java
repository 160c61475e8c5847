package io.turbidite.lsm.version;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.memory.CollectedChunks;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ManifestState.ComponentState;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Versions come and go while readers pin them: whoever has one pinned can read its component,
 * whoever comes later gets a newer one, and when all is over exactly the files are buried whose
 * versions nobody holds.
 */
@LeaksOnPurpose("versions are held when a run ends")
@Param(name = "thread", gen = ThreadIdGen.class)
public class VersionLincheckTest {
    private static final int THREADS = 3;
    private static final Slice KEY = Slice.of(new byte[] {1});
    private static final ComponentHeader HEADER = new ComponentHeader(5, 1, 1, 0, 1);
    private static final SimDisk DISK = new SimDisk(1, Profile.STRICT);
    private static final BufferCache CACHE = BufferCache.create(
            MemoryBudget.of(8 << 20).account("cache"),
            8 << 20,
            ThreadTasks.create("lincheck"),
            Clock.system());

    static {
        DISK.createDirectories(StoreFiles.DATA);
        try (ComponentWriter writer = ComponentWriter.create(
                DISK, StoreFiles.component(1), HEADER, ComponentOptions.primary(), 1)) {
            writer.add(KEY, 1, false, new Slice());
            writer.finish(new ComponentId(1, 1), ComponentFilter.none(), 0, 0);
        }
    }

    /** Has none of the files: what is buried is counted as left behind. */
    private final FileReaper reaper = new FileReaper(new SimDisk(2, Profile.STRICT));

    private final AtomicReferenceArray<Version> held = new AtomicReferenceArray<>(THREADS + 2);
    private int installCount;
    private volatile Version current;

    public VersionLincheckTest() {
        MemoryLayer layer = new MemoryLayer(new CollectedChunks(), SmallestSchema.SCHEMA, 2, 0, 0);
        ComponentHandle first = open(1);
        current = new Version(
                SmallestSchema.SCHEMA, layer, Map.of(TreeId.PRIMARY, List.of(first)), List.of());
        layer.release();
        first.release();
    }

    /** All are the same file under other names. */
    private ComponentHandle open(long number) {
        DiskComponent component = DiskComponent.open(DISK, StoreFiles.component(1), HEADER, CACHE);
        ComponentState state = ComponentState.fresh(100 + number, 1, 1, component.bytes(), 0);
        return ComponentHandle.of(state, component, null, reaper);
    }

    /** As a partition does it. */
    private Version pin() {
        while (true) {
            Version seen = current;
            if (seen.tryPin()) {
                return seen;
            }
            Thread.onSpinWait();
        }
    }

    /** The version's number, and its component still open. */
    private static int read(Version version) {
        ComponentHandle handle = version.tree(TreeId.PRIMARY).getFirst();
        int code = handle.component().find(KEY, 1, new Found(64), false);
        if (code != Found.MATTER) {
            throw new IllegalStateException("the component lost its entry: " + code);
        }
        return (int) handle.state().fileId() - 100;
    }

    @Operation
    public int install() {
        Version before;
        ComponentHandle old;
        int number;
        synchronized (this) {
            before = current;
            old = before.tree(TreeId.PRIMARY).getFirst();
            number = ++installCount + 1;
            ComponentHandle next = open(number);
            current = before.withMerged(
                    List.of(new Version.MergedTree(TreeId.PRIMARY, List.of(old), next)));
            next.release();
            old.markObsolete();
        }
        before.unpin();
        return number;
    }

    @Operation
    public int read() {
        Version pinned = pin();
        try {
            return read(pinned);
        } finally {
            pinned.unpin();
        }
    }

    @Operation
    public int hold(@Param(name = "thread") int thread) {
        letGo(thread);
        Version pinned = pin();
        held.set(thread, pinned);
        return read(pinned);
    }

    /** What a thread has held all the while is still what it was. */
    @Operation
    public int letGo(@Param(name = "thread") int thread) {
        Version old = held.getAndSet(thread, null);
        if (old == null) {
            return 0;
        }
        int number = read(old);
        old.unpin();
        return number;
    }

    @Validate
    public void exactlyWhatNobodyHoldsIsBuried() {
        Set<Integer> needed = new HashSet<>(Set.of(read(current)));
        for (int thread = 0; thread < held.length(); thread++) {
            Version version = held.get(thread);
            if (version != null) {
                needed.add(read(version));
            }
        }
        reaper.deleteObsolete();
        long expected = installCount + 1L - needed.size();
        if (reaper.orphanCount() != expected || current.liveCount() != needed.size()) {
            throw new IllegalStateException("%d files buried, not %d; %d versions, not %d"
                    .formatted(reaper.orphanCount(), expected, current.liveCount(), needed.size()));
        }
    }

    @Test
    void pinning_against_installing_is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 5, 200))
                .invocationsPerIteration(Tier.count(18, 150, 3_000))
                .threads(THREADS)
                .actorsPerThread(4)
                .actorsBefore(1)
                .actorsAfter(2)
                .sequentialSpecification(Model.class)
                .check(VersionLincheckTest.class);
    }

    /** The same without other threads; what a run of Lincheck is compared with. */
    public static final class Model {
        private final Map<Integer, Integer> held = new HashMap<>();
        private int number = 1;

        public int install() {
            return ++number;
        }

        public int read() {
            return number;
        }

        public int hold(int thread) {
            held.put(thread, number);
            return number;
        }

        public int letGo(int thread) {
            Integer old = held.remove(thread);
            return old == null ? 0 : old;
        }
    }
}
