package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CacheOptions;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.component.ComponentId;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentWriter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.strategy.bitmap.ImmutableValidityBitmap;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/** A component and its bitmaps: what readers see, and when which file goes. */
class ComponentHandleTest {
    private static final long STORE = 5;
    private static final int ENTRIES = 2_000;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final FileReaper reaper = new FileReaper(disk);
    private final SimClock clock = new SimClock();
    private final BufferCache cache = BufferCache.create(
            MemoryBudget.of(8 << 20).account("cache"),
            CacheOptions.of(8 << 20),
            new SimTasks(1, clock),
            clock,
            new Meters());

    private ComponentHandle first = open();

    @BeforeEach
    void nothing_is_invalid_at_first() {
        assertThat(first.invalidEntries()).isNull();
        assertThat(first.livingCount()).isEqualTo(ENTRIES);
    }

    @AfterEach
    void all_is_closed() {
        cache.close();
        assertThat(disk.openHandles()).isEmpty();
    }

    private ComponentHandle open() {
        ComponentHeader header = new ComponentHeader(STORE, 1, 1, 0, 1);
        ComponentOptions options =
                ComponentOptions.primary().withPageBytes(4_096).withBloom(false).withKeyTree(false);
        disk.createDirectories(StoreFiles.DATA);
        String name = StoreFiles.component(1);
        try (ComponentWriter writer =
                ComponentWriter.create(disk, name, header, options, ENTRIES)) {
            for (int i = 0; i < ENTRIES; i++) {
                writer.add(key(i), i + 1, false, new Slice());
            }
            writer.finish(new ComponentId(1, ENTRIES), ComponentFilter.none(), 0, 0);
        }
        DiskComponent component = DiskComponent.open(disk, name, header, cache);
        ComponentState state = ComponentState.fresh(1, 1, ENTRIES, component.bytes(), 0);
        return ComponentHandle.of(state, component, null, reaper);
    }

    private static Slice key(int number) {
        return Slice.of(new byte[] {(byte) (number >>> 8), (byte) number});
    }

    private ComponentHandle repaired(ComponentHandle before, long fileId, long... invalidEntries) {
        ValidityBitmapBuilder builder = ValidityBitmapBuilder.of(ENTRIES, before.invalidEntries());
        for (long ordinal : invalidEntries) {
            builder.mark(ordinal);
        }
        ValidityBitmapOwner owner = new ValidityBitmapOwner(STORE, fileId, 1);
        long bytes = builder.write(disk, StoreFiles.bitmap(fileId), owner, ENTRIES);
        BitmapState state = new BitmapState(fileId, bytes, builder.count());
        return before.repaired(
                before.state().withRepaired(9_000 + fileId, state),
                ImmutableValidityBitmap.open(disk, StoreFiles.bitmap(fileId), owner));
    }

    private static List<Integer> ordinals(EntryCursor cursor, boolean forward) {
        List<Integer> found = new ArrayList<>();
        try (cursor) {
            if (!forward) {
                cursor.seekEnd();
            }
            while (forward ? cursor.next() : cursor.previous()) {
                found.add((int) cursor.timestamp() - 1);
            }
        }
        return found;
    }

    private void release(ComponentHandle handle) {
        handle.release();
        reaper.deleteObsolete();
    }

    @Test
    void invalid_entries_are_passed_over_in_both_directions_and_after_a_seek() {
        ComponentHandle handle = repaired(first, 2, 0, 1, 2, 700, 701, 1_500, ENTRIES - 1);
        List<Integer> living = new ArrayList<>();
        for (int i = 3; i < ENTRIES - 1; i++) {
            if (i != 700 && i != 701 && i != 1_500) {
                living.add(i);
            }
        }
        assertThat(handle.livingCount()).isEqualTo(living.size());
        assertThat(ordinals(handle.cursor(), true)).isEqualTo(living);
        assertThat(ordinals(handle.streamCursor(0), true)).isEqualTo(living);
        assertThat(ordinals(handle.cursor(), false)).isEqualTo(living.reversed());
        assertThat(ordinals(first.cursor(), true)).hasSize(ENTRIES);
        try (EntryCursor cursor = handle.cursor()) {
            cursor.seek(key(700));
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.timestamp()).isEqualTo(703);
            assertThat(cursor.previous()).isTrue();
            assertThat(cursor.timestamp()).isEqualTo(700);
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.timestamp()).isEqualTo(703);
        }
        handle.release();
        first.release();
    }

    @Test
    void the_component_file_is_closed_and_deleted_by_the_last_of_its_handles() {
        ComponentHandle second = repaired(first, 2, 5);
        ComponentHandle third = repaired(second, 3, 6);
        first.markReplacedBy(second);
        second.markReplacedBy(third);
        release(first);
        assertThat(disk.exists(StoreFiles.component(1))).isTrue();
        // a reader still holds the second, which was replaced
        third.markObsolete();
        release(third);
        assertThat(disk.exists(StoreFiles.bitmap(3))).isFalse();
        assertThat(disk.exists(StoreFiles.component(1))).isTrue();
        assertThat(disk.exists(StoreFiles.bitmap(2))).isTrue();
        assertThat(ordinals(second.cursor(), true)).hasSize(ENTRIES - 1);
        DiskComponent component = second.component();
        release(second);
        assertThat(disk.files()).isEmpty();
        assertThatThrownBy(component::cursor).isInstanceOf(ClosedException.class);
    }

    @Test
    void a_bitmap_that_is_only_older_than_it_could_be_is_shared() {
        ComponentHandle second = repaired(first, 2, 5);
        ComponentHandle third = second.repaired(
                second.state().withRepaired(20_000, second.state().invalidEntries()),
                second.invalidEntries());
        second.markReplacedBy(third);
        release(second);
        release(first);
        assertThat(disk.exists(StoreFiles.bitmap(2))).isTrue();
        assertThat(ordinals(third.cursor(), true)).doesNotContain(5).hasSize(ENTRIES - 1);
        release(third);
        // a clean close: what the manifest names stays
        assertThat(disk.files())
                .containsExactlyInAnyOrder(StoreFiles.component(1), StoreFiles.bitmap(2));
    }

    @Test
    void what_is_taken_is_one_handle_so_that_the_replaced_one_can_be_taken_in_vain_only() {
        assertThat(first.tryTake()).isTrue();
        ComponentHandle second = repaired(first, 2, 5);
        assertThat(second.isTaken()).isFalse();
        first.giveBack();
        assertThat(first.tryTake()).isTrue();
        first.giveBack();
        second.release();
        first.release();
    }
}
