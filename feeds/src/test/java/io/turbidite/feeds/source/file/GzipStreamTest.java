package io.turbidite.feeds.source.file;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** Nothing of a member comes out before it was proven, whatever ended the proof. */
class GzipStreamTest {
    @Test
    void what_a_proof_that_was_stopped_has_begun_is_not_given_out() throws IOException {
        byte[] content = new byte[300_000];
        new Random(7).nextBytes(content);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(content);
        }
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.put("a.gz", packed.toByteArray());
        try (GzipStream stream = new GzipStream(disk.openReadOnly("a.gz"), packed.size(), true)) {
            byte[] target = new byte[100];
            stream.stopWhen(() -> true);
            assertThatThrownBy(() -> stream.read(target, 0, target.length))
                    .isInstanceOf(StorageIoException.class);
            stream.stopWhen(() -> false);
            assertThatThrownBy(() -> stream.read(target, 0, target.length))
                    .isInstanceOf(IOException.class);
        }
    }
}
