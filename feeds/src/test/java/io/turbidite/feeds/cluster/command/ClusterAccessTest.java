package io.turbidite.feeds.cluster.command;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;

import org.junit.jupiter.api.Test;

/** What commands say where the engine's libraries are left out. */
class ClusterAccessTest {
    private static void without(String type) {
        var _ = ClusterAccess.told(() -> {
            throw new NoClassDefFoundError(type);
        });
    }

    @Test
    void a_library_that_is_not_there_is_named() {
        assertThatThrownBy(() -> without("org/apache/hyracks/control/cc/ClusterControllerService"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("a cluster needs org.apache.hyracks:hyracks-control-cc,"
                        + " hyracks-control-nc and hyracks-dataflow-std, not on the class path");
        assertThatThrownBy(() -> without("org/bouncycastle/cert/X509CertificateHolder"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("a cluster needs org.bouncycastle:bcpkix-jdk18on, not on the class"
                        + " path");
    }

    @Test
    void any_other_error_stays_what_it_is() {
        assertThatThrownBy(() -> without("io/turbidite/Missing"))
                .isInstanceOf(NoClassDefFoundError.class);
    }
}
