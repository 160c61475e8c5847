package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.regex.Pattern;

/**
 * The authority of one cluster: makes the certificates by which its processes know one another. Its
 * key need not be where a node is. <em>Immutable.</em>
 *
 * <p>Keys are of the curve P-256. A certificate is valid from a day before it is made, since clocks
 * differ, for ten years.
 */
public final class ClusterAuthority {
    private static final long VALID_DAYS = 3_650;
    private static final int SERIAL_BITS = 127;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,62}");

    private final X509Certificate certificate;
    private final PrivateKey key;
    private final Clock clock;
    private final SecureRandom random;

    private ClusterAuthority(
            X509Certificate certificate, PrivateKey key, Clock clock, SecureRandom random) {
        this.certificate = certificate;
        this.key = key;
        this.clock = clock;
        this.random = random;
    }

    /**
     * A key and what was certified of it.
     *
     * @param certificate of its holder, by the authority; of the authority by itself
     */
    public record Certified(X509Certificate certificate, PrivateKey key) {
        /** Without the key. */
        @Override
        public String toString() {
            return "Certified[%s]".formatted(certificate.getSubjectX500Principal());
        }
    }

    /**
     * Makes the authority of a new cluster.
     *
     * @param cluster its name, which no other has
     */
    public static ClusterAuthority create(String cluster, Clock clock, SecureRandom random) {
        KeyPair pair = pair(random);
        X500Name name = name(cluster, "authority");
        X509Certificate made = certificate(
                new Signing(name, pair.getPrivate(), clock, random), name, pair.getPublic(), true);
        return new ClusterAuthority(made, pair.getPrivate(), clock, random);
    }

    /** The authority that was kept. */
    public static ClusterAuthority of(Certified kept, Clock clock, SecureRandom random) {
        return new ClusterAuthority(kept.certificate(), kept.key(), clock, random);
    }

    /** Its own certificate and key, to be kept. */
    public Certified certified() {
        return new Certified(certificate, key);
    }

    /** What all processes of the cluster believe. */
    public X509Certificate certificate() {
        return certificate;
    }

    /**
     * Makes a key for a process, and certifies it.
     *
     * @param process the name of a node, or {@link ClusterIdentity#CONTROLLER}
     */
    public Certified issue(String process) {
        KeyPair pair = pair(random);
        String cluster = ClusterIdentity.part(certificate, "O");
        return new Certified(
                certificate(
                        new Signing(name(cluster, "authority"), key, clock, random),
                        name(cluster, process),
                        pair.getPublic(),
                        false),
                pair.getPrivate());
    }

    private static KeyPair pair(SecureRandom random) {
        try {
            KeyPairGenerator pairs = KeyPairGenerator.getInstance("EC");
            pairs.initialize(new ECGenParameterSpec("secp256r1"), random);
            return pairs.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no keys of curve P-256", e);
        }
    }

    private static X500Name name(String cluster, String process) {
        for (String part : new String[] {cluster, process}) {
            if (!NAME.matcher(part).matches()) {
                throw new InvalidRequestException(
                        "'%s' is no name: letters, digits and _ . - have 1 to 63 places"
                                .formatted(part));
            }
        }
        return new X500NameBuilder()
                .addRDN(BCStyle.O, cluster)
                .addRDN(BCStyle.CN, process)
                .build();
    }

    /** Who signs, and when. */
    private record Signing(X500Name issuer, PrivateKey key, Clock clock, SecureRandom random) {}

    @SuppressWarnings("JavaUtilDate") // the library asks for it
    private static X509Certificate certificate(
            Signing signing, X500Name subject, PublicKey holder, boolean isAuthority) {
        Instant now = Instant.EPOCH.plus(signing.clock().wallMicros(), ChronoUnit.MICROS);
        X509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                signing.issuer(),
                new BigInteger(SERIAL_BITS, signing.random()).add(BigInteger.ONE),
                Date.from(now.minus(1, ChronoUnit.DAYS)),
                Date.from(now.plus(VALID_DAYS, ChronoUnit.DAYS)),
                subject,
                holder);
        try {
            builder.addExtension(
                    Extension.basicConstraints,
                    true,
                    isAuthority ? new BasicConstraints(0) : new BasicConstraints(false));
            builder.addExtension(
                    Extension.keyUsage,
                    true,
                    new KeyUsage(isAuthority ? KeyUsage.keyCertSign : KeyUsage.digitalSignature));
            if (!isAuthority) {
                builder.addExtension(
                        Extension.extendedKeyUsage, true, new ExtendedKeyUsage(new KeyPurposeId[] {
                            KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth
                        }));
            }
            return new JcaX509CertificateConverter()
                    .getCertificate(builder.build(
                            new JcaContentSignerBuilder("SHA256withECDSA").build(signing.key())));
        } catch (CertIOException | OperatorCreationException | GeneralSecurityException e) {
            throw new IllegalStateException("a certificate can't be made", e);
        }
    }

    /** The identity of a process of its cluster. */
    public ClusterIdentity identity(Certified process) {
        return ClusterIdentity.of(certificate, process.certificate(), process.key());
    }
}
