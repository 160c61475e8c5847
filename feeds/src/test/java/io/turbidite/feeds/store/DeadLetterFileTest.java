package io.turbidite.feeds.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

class DeadLetterFileTest {
    private static final String NAME = "dead/f.jsonl";

    private static Slice text(String text) {
        return Slice.of(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String content(SimDisk disk) {
        return new String(disk.content(NAME), StandardCharsets.UTF_8);
    }

    @Test
    void theFileIsMadeByTheFirstLetter() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (DeadLetterFile file = DeadLetterFile.open(disk, NAME, 0)) {
            file.append(new Slice());
            assertThat(file.name()).isNull();
            assertThat(disk.exists(NAME)).isFalse();
            file.append(text("one\n"));
            file.append(text("two\n"));
            assertThat(file.name()).isEqualTo(NAME);
            assertThat(file.byteCount()).isEqualTo(8);
        }
        assertThat(content(disk)).isEqualTo("one\ntwo\n");
        assertThat(disk.openHandleCount()).isZero();
    }

    @Test
    void whatWasNotCommittedIsCutOffAtOpening() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.createDirectories("dead");
        disk.put(NAME, "one\ntwo\n".getBytes(StandardCharsets.UTF_8));
        try (DeadLetterFile file = DeadLetterFile.open(disk, NAME, 4)) {
            file.append(text("2\n"));
        }
        assertThat(content(disk)).isEqualTo("one\n2\n");
    }

    @Test
    void aFileThatItsReaderEmptiedIsGoneOnWith() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.createDirectories("dead");
        disk.put(NAME, new byte[0]);
        try (DeadLetterFile file = DeadLetterFile.open(disk, NAME, 400)) {
            file.append(text("new\n"));
            assertThat(file.byteCount()).isEqualTo(4);
        }
        assertThat(content(disk)).isEqualTo("new\n");
    }

    @Test
    void anAppendedLetterSurvivesAPowerCut() {
        for (int seed = 0; seed < 50; seed++) {
            SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
            try (DeadLetterFile file = DeadLetterFile.open(disk, NAME, 0)) {
                file.append(text("one\n"));
                assertThat(content(disk.crashImage(seed))).isEqualTo("one\n");
                file.append(text("two\n"));
                assertThat(content(disk.crashImage(seed))).isEqualTo("one\ntwo\n");
            }
        }
    }
}
