package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

/** The build runs this class a second time in a JVM without the incubator module. */
class WithoutVectorsTest {
    @Test
    void the_best_mode_is_one_that_this_jvm_can_run() {
        boolean present = ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
        assertThat(ScanMode.best()).isEqualTo(present ? ScanMode.VECTOR : ScanMode.WORDS);
        if (!present) {
            assertThatThrownBy(() -> Parsed.json(ScanMode.VECTOR, "w"))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("--add-modules jdk.incubator.vector");
        }
        RecordParser parser = Parsed.json(ScanMode.best(), "w");
        byte[] record = "{\"x\":[1,2],\"w\":3}".getBytes(StandardCharsets.UTF_8);
        assertThat(Parsed.outcome(parser, record)).isEqualTo("INTEGER 3|");
    }
}
