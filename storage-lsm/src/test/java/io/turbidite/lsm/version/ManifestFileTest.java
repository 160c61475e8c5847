package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/** No length of a file is believed before its footer and checksum were found right. */
class ManifestFileTest {
    private static final long BYTES = 900L << 20;
    private static final long ALLOCATED_BYTES_MAX = 4L << 20;

    @TempDir
    private Path directory = Path.of("");

    /** What stands at the end of a file that is far too long. */
    enum End {
        NOTHING,
        THE_FOOTER,
        A_FOOTER_OF_ALL;

        void write(DiskFile file, FileFooter footer) {
            long at = BYTES - FileFooter.BYTES;
            switch (this) {
                case NOTHING -> {
                    // zeros
                }
                case THE_FOOTER -> footer.writeTo(file, at);
                case A_FOOTER_OF_ALL ->
                    new FileFooter(
                                    FileHeader.BYTES,
                                    at - FileHeader.BYTES,
                                    footer.payloadChecksum(),
                                    footer.storeId(),
                                    footer.fileId())
                            .writeTo(file, at);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void a_manifest_that_is_far_too_long_is_damaged_and_takes_no_memory(End end) {
        RealDisk disk = RealDisk.open(directory);
        ManifestFile.write(disk, ManifestState.empty(7));
        try (DiskFile file = disk.open(StoreFiles.MANIFEST)) {
            FileFooter footer = FileFooter.readFrom(file);
            file.truncate(BYTES);
            end.write(file, footer);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatThrownBy(() -> ManifestFile.read(disk))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("MANIFEST");
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .isLessThan(ALLOCATED_BYTES_MAX);
    }

    @ParameterizedTest
    @EnumSource(End.class)
    void the_mark_of_a_shipment_that_is_far_too_long_takes_no_memory(End end) {
        RealDisk disk = RealDisk.open(directory);
        byte[] image = ManifestFile.encode(ManifestState.empty(7));
        try (DiskFile file = disk.create(StoreFiles.SHIPMENT)) {
            file.write(FileHeader.BYTES, MemorySegment.ofArray(image), 0, image.length);
            FileFooter footer = FileFooter.read(
                    "image", image.length, MemorySegment.ofArray(image), image.length - 64L);
            file.truncate(BYTES);
            end.write(file, footer);
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        assertThatThrownBy(() -> Store.receivedCount(directory))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining("SHIPMENT");
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .isLessThan(ALLOCATED_BYTES_MAX);
    }

    @Test
    void after_a_change_with_an_unknown_outcome_there_is_no_other() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Manifest manifest = Manifest.create(disk, 7);
        var _ = disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.RENAME).call(1));
        assertThatThrownBy(() -> manifest.edit(state -> state.withProgress(1, 1), () -> {}))
                .isInstanceOf(StoreFailedException.class);
        disk.clearFaults();
        assertThatThrownBy(() -> manifest.edit(
                        state -> {
                            throw new AssertionError("asked on top of " + state);
                        },
                        () -> {}))
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("could not be replaced for sure");
    }
}
