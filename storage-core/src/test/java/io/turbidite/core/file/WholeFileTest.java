package io.turbidite.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;

/** A power cut or a failing disk leaves the old file or the new one, whole. */
class WholeFileTest {
    private static final String NAME = "d/STATE";
    private static final byte[] OLD = bytes(5_000, 1);
    private static final byte[] NEW = bytes(9_000, 2);

    private static byte[] bytes(int count, int value) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (value + i % 97);
        }
        return bytes;
    }

    private static SimDisk withOld(Profile profile) {
        SimDisk disk = new SimDisk(1, profile);
        disk.createDirectories("d");
        disk.syncDirectory("");
        WholeFile.of(disk, NAME).write(OLD);
        return disk;
    }

    @ParameterizedTest
    @EnumSource(Profile.class)
    void a_power_cut_leaves_the_old_file_or_the_new_one(Profile profile) {
        SimDisk disk = withOld(profile);
        List<SimDisk> images = new ArrayList<>();
        disk.onOperation(step -> {
            for (int i = 0; i < 10; i++) {
                images.add(disk.crashImage(i));
            }
        });
        WholeFile.of(disk, NAME).write(NEW);
        disk.onOperation(step -> {});
        assertThat(images).hasSizeGreaterThanOrEqualTo(40);
        for (SimDisk image : images) {
            assertThat(image.content(NAME)).isIn(OLD, NEW);
            // and whatever it left behind is no hindrance
            WholeFile.of(image, NAME).write(NEW);
            assertThat(image.list("d")).containsExactly("STATE");
        }
        assertThat(disk.crashImage(1).content(NAME)).isEqualTo(NEW);
    }

    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"CREATE", "WRITE", "SYNC"})
    void when_the_draft_fails_the_old_file_stands(OperationKind kind) {
        SimDisk disk = withOld(Profile.STRICT);
        var _ = disk.fault(FaultScript.with(Fault.EIO).on(kind).call(1));
        assertThatThrownBy(() -> WholeFile.of(disk, NAME).writeForSure(NEW, "it", "all"))
                .isInstanceOf(StorageIoException.class);
        disk.clearFaults();
        assertThat(disk.content(NAME)).isEqualTo(OLD);
        WholeFile.of(disk, NAME).abandon();
        assertThat(disk.list("d")).containsExactly("STATE");
        WholeFile.of(disk, NAME).abandon(); // nothing is there to abandon
    }

    @ParameterizedTest
    @EnumSource(
            value = OperationKind.class,
            names = {"RENAME", "SYNC_DIRECTORY"})
    void when_the_draft_is_not_placed_for_sure_that_is_said(OperationKind kind) {
        SimDisk disk = withOld(Profile.STRICT);
        var _ = disk.fault(FaultScript.with(Fault.EIO).on(kind).call(1));
        assertThatThrownBy(
                        () -> WholeFile.of(disk, NAME).writeForSure(NEW, "the state", "the store"))
                .isInstanceOf(StoreFailedException.class)
                .hasMessageStartingWith("the state could not be replaced for sure: ")
                .hasMessageEndingWith("; reopen the store");
        disk.clearFaults();
        assertThat(disk.content(NAME)).isIn(OLD, NEW);
    }

    @Test
    void a_file_may_have_a_draft_of_another_name() {
        SimDisk disk = withOld(Profile.STRICT);
        WholeFile whole = WholeFile.of(disk, NAME, "d/other");
        whole.writeDraft(NEW);
        assertThat(disk.list("d")).containsExactly("STATE", "other");
        assertThat(disk.content(NAME)).isEqualTo(OLD);
        whole.place();
        assertThat(disk.list("d")).containsExactly("STATE");
        assertThat(disk.content(NAME)).isEqualTo(NEW);
    }
}
