package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.btree.LeafBuilder;
import io.turbidite.lsm.component.ComponentWriters.Builders;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;
import io.turbidite.lsm.entry.EntryHead;

import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.util.SplittableRandom;

/** Builders that go from one component to the next leave nothing of the one in the other. */
class ComponentWritersTest {
    private static final ComponentOptions OPTIONS = ComponentOptions.primary();

    private final SplittableRandom random = new SplittableRandom(Seeds.of("ComponentWritersTest"));
    private final SimDisk disk = new SimDisk(Seeds.of("ComponentWritersTest"), Profile.ADVERSARIAL);
    private final ComponentWriters writers = new ComponentWriters(disk);

    @Test
    void a_component_is_the_same_whatever_was_written_before() {
        for (KeyShape keys : KeyShape.values()) {
            ComponentOptions options =
                    OPTIONS.withPageBytes(random.nextBoolean() ? 4 << 10 : 32 << 10);
            Entries entries = Entries.generate(random, 2_000, keys, ValueShape.ANY_LENGTH);
            try (ComponentWriter writer =
                    writers.create(Components.NAME, Components.HEADER, options, entries.size())) {
                add(entries, writer);
                writer.finish(entries.id(), Components.filter(), 1_000, 2_000);
            }
            byte[] reused = takeFile();
            Components.write(disk, options, entries);
            assertThat(reused).isEqualTo(takeFile());
            abandonOne(options);
        }
    }

    @Test
    void builders_are_lent_to_one_writer_at_a_time_and_huge_ones_are_not_kept() {
        Builders first = writers.take(4 << 10);
        Builders second = writers.take(4 << 10);
        assertThat(second.leaf()).isNotSameAs(first.leaf());
        writers.give(first);
        assertThat(writers.take(32 << 10).leaf()).isSameAs(first.leaf());
        Slice huge = Slice.of(new byte[4 << 20]);
        EntryHead entry = new EntryHead();
        entry.note(Slice.of(new byte[] {1}), 0, true);
        assertThat(first.leaf().add(entry, 0, huge)).isTrue();
        writers.give(first);
        assertThat(writers.take(4 << 10).leaf()).isNotSameAs(first.leaf());
    }

    @Test
    void kept_builders_go_before_the_heap_is_full() {
        WeakReference<LeafBuilder> kept = giveOne();
        // soft references are cleared before an allocation may fail
        assertThatThrownBy(() -> new long[Integer.MAX_VALUE - 8].clone())
                .isInstanceOf(OutOfMemoryError.class);
        assertThat(kept.get()).isNull();
        assertThat(writers.take(4 << 10).leaf().entryCount()).isZero();
    }

    private WeakReference<LeafBuilder> giveOne() {
        Builders one = writers.take(4 << 10);
        writers.give(one);
        return new WeakReference<>(one.leaf());
    }

    /** A writer that is closed in the middle of a page. */
    private void abandonOne(ComponentOptions options) {
        Entries entries = Entries.generate(random, 100, KeyShape.LONGS, ValueShape.SAME_LENGTH);
        try (ComponentWriter writer =
                writers.create(Components.NAME, Components.HEADER, options, entries.size())) {
            add(entries, writer);
        }
    }

    private static void add(Entries entries, ComponentWriter writer) {
        for (Entries.Entry entry : entries.sorted) {
            Slice value = Slice.of(entry.value());
            writer.add(entry.keySlice(), entry.timestamp(), entry.antimatter(), value);
        }
    }

    /** Reads the component's file and deletes it. */
    private byte[] takeFile() {
        try {
            return disk.content(Components.NAME);
        } finally {
            disk.delete(Components.NAME);
        }
    }
}
