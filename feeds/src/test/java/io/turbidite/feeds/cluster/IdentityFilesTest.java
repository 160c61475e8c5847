package io.turbidite.feeds.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterIdentity;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/** Keys and certificates come back as they were, and keys are their owner's alone. */
class IdentityFilesTest {
    @TempDir
    private Path directory;

    private final ClusterAuthority authority =
            ClusterAuthority.create("beds", Clock.system(), new SecureRandom());

    private String mode(String file) throws IOException {
        return PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve(file)));
    }

    @Test
    void what_is_written_is_read_and_keys_are_their_owners_alone() throws IOException {
        IdentityFiles.writeAuthority(directory, authority);
        IdentityFiles.writeIdentity(directory, authority, "n1");
        ClusterIdentity read = IdentityFiles.readIdentity(directory.resolve("n1"));
        assertThat(read.name()).isEqualTo("n1");
        assertThat(read.cluster()).isEqualTo("beds");
        assertThat(mode("authority.key")).isEqualTo("rw-------");
        assertThat(mode("n1/own.key")).isEqualTo("rw-------");
        ClusterAuthority again = ClusterAuthority.of(
                IdentityFiles.readAuthority(directory), Clock.system(), new SecureRandom());
        assertThat(again.identity(again.issue("n2")).name()).isEqualTo("n2");
        assertThat(again.certificate()).isEqualTo(authority.certificate());
        assertThat(Files.readString(directory.resolve("n1/own.crt")))
                .startsWith("-----BEGIN CERTIFICATE-----\n")
                .endsWith("-----END CERTIFICATE-----\n");
    }

    @Test
    void what_is_there_is_not_written_over() {
        IdentityFiles.writeAuthority(directory, authority);
        assertThatThrownBy(() -> IdentityFiles.writeAuthority(directory, authority))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageEndingWith("authority.key is there already: a cluster is made once");
    }

    @Test
    void a_key_that_others_may_read_and_a_certificate_of_another_cluster_are_refused()
            throws IOException {
        IdentityFiles.writeIdentity(directory, authority, "n1");
        Path own = directory.resolve("n1");
        Path key = own.resolve("own.key");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r-----"));
        assertThatThrownBy(() -> IdentityFiles.readIdentity(own))
                .hasMessage("others may read or change %s: set its mode to 0600".formatted(key));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Path elsewhere = directory.resolve("elsewhere");
        IdentityFiles.writeAuthority(
                elsewhere, ClusterAuthority.create("beds", Clock.system(), new SecureRandom()));
        Files.copy(
                elsewhere.resolve("authority.crt"),
                own.resolve("authority.crt"),
                StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> IdentityFiles.readIdentity(own))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageStartingWith("a certificate can't be used");
        Files.writeString(key, "nothing");
        assertThatThrownBy(() -> IdentityFiles.readIdentity(own)).hasMessageEndingWith("is no key");
        Files.delete(key);
        assertThatThrownBy(() -> IdentityFiles.readIdentity(own))
                .hasMessageEndingWith("is missing");
    }
}
