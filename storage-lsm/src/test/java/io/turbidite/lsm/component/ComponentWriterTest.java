package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Entries.KeyShape;
import io.turbidite.lsm.component.Entries.ValueShape;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/**
 * What a writer refuses, what it leaves behind when something fails, and what survives a power cut.
 */
class ComponentWriterTest {
    private static final ComponentOptions OPTIONS = ComponentOptions.primary();

    private final SimDisk disk = new SimDisk(Seeds.of("ComponentWriterTest"), Profile.ADVERSARIAL);

    @Test
    void entriesOutOfOrderAreRefused() {
        try (ComponentWriter writer = create()) {
            writer.add(text("b"), 10, false, text("value"));
            writer.add(text("b"), 9, false, text("older"));
            for (Slice key : new Slice[] {text("b"), text("a"), text(""), text("Z")}) {
                assertThatThrownBy(() -> writer.add(key, 9, false, text("")))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("comes behind");
            }
            writer.add(text("ba"), 10, false, text("longer is above"));
        }
        assertThat(disk.files()).isEmpty();
    }

    @Test
    void antimatterHasNoValueAndKeysHaveALimit() {
        try (ComponentWriter writer = create()) {
            assertThatThrownBy(() -> writer.add(text("a"), 1, true, text("v")))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> writer.add(Slice.of(new byte[1_025]), 1, true, text("")))
                    .isInstanceOf(IllegalArgumentException.class);
            writer.add(Slice.of(new byte[1_024]), 1, true, text(""));
        }
    }

    @Test
    void optionsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> OPTIONS.withPageBytes(4_095))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> OPTIONS.withPageBytes((128 << 10) + 1))
                .isInstanceOf(InvalidRequestException.class);
        for (double rate : new double[] {0, 0.6, -1, Double.NaN}) {
            assertThatThrownBy(() -> OPTIONS.withBloomFalsePositiveRate(rate))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    @Test
    void anAbandonedWriterLeavesNothing() {
        ComponentWriter writer = create();
        writer.add(text("a"), 1, false, text("v"));
        writer.close();
        writer.close();
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
        assertThatThrownBy(() -> writer.add(text("b"), 1, false, text("v")))
                .isInstanceOf(ClosedException.class);
    }

    @Test
    void aWriterThatFailsAnywhereLeavesNothing() {
        Entries entries = Entries.generate(
                new SplittableRandom(1), 20_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        for (Fault fault : new Fault[] {Fault.EIO, Fault.ENOSPC}) {
            for (OperationKind kind : new OperationKind[] {
                OperationKind.CREATE, OperationKind.WRITE, OperationKind.SYNC
            }) {
                for (int call = 1; call < 100; call++) {
                    SimDisk failing = new SimDisk(call, Profile.STRICT);
                    FaultScript script =
                            failing.fault(FaultScript.with(fault).on(kind).call(call));
                    try {
                        Components.write(failing, OPTIONS, entries);
                        assertThat(script.hitCount()).isZero();
                        break;
                    } catch (StorageIoException e) {
                        assertThat(script.hitCount()).isOne();
                    }
                    assertThat(failing.files())
                            .as("%s at %s %d", fault, kind, call)
                            .isEmpty();
                    assertThat(failing.openHandles()).isEmpty();
                }
            }
        }
    }

    @Test
    void aFinishedComponentSurvivesAPowerCut() {
        Entries entries = Entries.generate(
                new SplittableRandom(2), 2_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        Components.write(disk, OPTIONS, entries);
        disk.syncDirectory("");
        try (BufferCache cache = Components.cache(8 << 20)) {
            for (int seed = 0; seed < 5; seed++) {
                SimDisk survivor = disk.crashImage(seed);
                try (DiskComponent component = Components.open(survivor, cache)) {
                    assertThat(component.entryCount()).isEqualTo(entries.size());
                    assertThat(Components.verify(component)).isEmpty();
                }
            }
        }
    }

    @Test
    void aClosedComponentThrowsAndDoesNotCrash() {
        Entries entries = Entries.generate(
                new SplittableRandom(3), 2_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        Components.write(disk, OPTIONS, entries);
        try (BufferCache cache = Components.cache(8 << 20)) {
            DiskComponent component = Components.open(disk, cache);
            TreeCursor cursor = component.cursor();
            TreeCursor stream = component.streamCursor();
            assertThat(cursor.next()).isTrue();
            component.close();
            component.close();
            assertThatThrownBy(() -> cursor.seek(text("a"))).isInstanceOf(ClosedException.class);
            assertThatThrownBy(stream::next).isInstanceOf(ClosedException.class);
            assertThatThrownBy(component::cursor).isInstanceOf(ClosedException.class);
            assertThatThrownBy(component::pointCursor).isInstanceOf(ClosedException.class);
            stream.close();
            cursor.close();
            assertThatThrownBy(cursor::next).isInstanceOf(ClosedException.class);
            assertThat(cache.statistics().frameCount()).isZero();
            assertThat(disk.openHandles()).isEmpty();
        }
    }

    @Test
    void aClosedCursorDoesNoHarmToTheOneThatHasItsRoom() {
        Entries entries = Entries.generate(
                new SplittableRandom(4), 2_000, KeyShape.LONGS, ValueShape.ANY_LENGTH);
        Components.write(disk, OPTIONS, entries);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            TreeCursor closed = component.cursor();
            assertThat(closed.next()).isTrue();
            closed.close();
            try (TreeCursor cursor = component.cursor()) {
                for (Entries.Entry entry : entries.sorted) {
                    assertThat(cursor.next()).isTrue();
                    closed.close();
                    assertThatThrownBy(closed::next).isInstanceOf(ClosedException.class);
                    assertThatThrownBy(closed::previous).isInstanceOf(ClosedException.class);
                    assertThatThrownBy(() -> closed.seekEnd()).isInstanceOf(ClosedException.class);
                    assertThat(cursor.key().toByteArray()).isEqualTo(entry.key());
                    assertThat(cursor.timestamp()).isEqualTo(entry.timestamp());
                    assertThat(cursor.value().toByteArray()).isEqualTo(entry.value());
                }
                assertThat(cursor.next()).isFalse();
            }
        }
    }

    private ComponentWriter create() {
        return ComponentWriter.create(disk, Components.NAME, Components.HEADER, OPTIONS, 100);
    }

    private static Slice text(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }
}
