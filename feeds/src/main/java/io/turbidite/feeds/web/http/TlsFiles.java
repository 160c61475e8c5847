package io.turbidite.feeds.web.http;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateNotYetValidException;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A certificate and its key, in PEM files that are read anew when they have changed. <em>
 * Thread-safe.</em>
 */
public final class TlsFiles {
    private static final Logger LOG = LoggerFactory.getLogger(TlsFiles.class);

    /** Files are looked at by connections that come, and no more often than this. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Path certificate;
    private final Path key;
    private final Clock clock;
    private final AtomicLong lookedNanos;
    private volatile SslContext context;
    private volatile List<FileTime> read;

    private TlsFiles(Path certificate, Path key, Clock clock) throws IOException {
        this.certificate = certificate;
        this.key = key;
        this.clock = clock;
        this.lookedNanos = new AtomicLong(clock.monotonicNanos());
        this.read = changed();
        this.context = load();
    }

    /**
     * Reads the files.
     *
     * @param certificate with those that vouch for it, the server's first
     * @param key in PKCS 8, not encrypted
     * @throws InvalidRequestException if one can't be read, the certificate is not valid now, or
     *     the key is another's
     */
    public static TlsFiles read(Path certificate, Path key, Clock clock) {
        try {
            return new TlsFiles(certificate, key, clock);
        } catch (NoSuchFileException e) {
            throw new InvalidRequestException(e.getFile() + ": no such file", e);
        } catch (IOException e) {
            throw new InvalidRequestException(
                    "%s and %s can't be read: %s".formatted(certificate, key, e.getMessage()), e);
        }
    }

    private List<FileTime> changed() throws IOException {
        return List.of(Files.getLastModifiedTime(certificate), Files.getLastModifiedTime(key));
    }

    /** What a connection uses; has the files looked at now and then. */
    public SslContext context(Executor reader) {
        long now = clock.monotonicNanos();
        long before = lookedNanos.get();
        if (now - before > LOOK_NANOS && lookedNanos.compareAndSet(before, now)) {
            reader.execute(this::look);
        }
        return context;
    }

    private void look() {
        try {
            List<FileTime> now = changed();
            if (!now.equals(read)) {
                context = load();
                read = now;
            }
        } catch (IOException | InvalidRequestException e) {
            LOG.warn("the certificate stays as it is: {}", e.getMessage());
        }
    }

    private SslContext load() throws IOException {
        try (InputStream in = Files.newInputStream(certificate)) {
            X509Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(X509Certificate[]::new);
            if (chain.length == 0) {
                throw new InvalidRequestException(certificate + " has no certificate");
            }
            chain[0].checkValidity();
            PrivateKey secret = key(chain[0].getPublicKey().getAlgorithm());
            checkPair(chain[0], secret);
            return SslContextBuilder.forServer(secret, chain).build();
        } catch (CertificateExpiredException e) {
            throw new InvalidRequestException(
                    "%s has expired: %s".formatted(certificate, e.getMessage()), e);
        } catch (CertificateNotYetValidException e) {
            throw new InvalidRequestException(
                    "%s is not valid yet: %s".formatted(certificate, e.getMessage()), e);
        } catch (GeneralSecurityException e) {
            throw new InvalidRequestException(
                    "%s is no certificate that can be used: %s"
                            .formatted(certificate, e.getMessage()),
                    e);
        }
    }

    private PrivateKey key(String algorithm) throws IOException, NoSuchAlgorithmException {
        String text = Files.readString(key)
                .replaceAll("-----(BEGIN|END) PRIVATE KEY-----", "")
                .replaceAll("\\s", "");
        try {
            return KeyFactory.getInstance(algorithm)
                    .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
        } catch (IllegalArgumentException e) {
            throw new InvalidRequestException(
                    "%s is no key: it must be PEM, 'BEGIN PRIVATE KEY'".formatted(key), e);
        } catch (InvalidKeySpecException e) {
            throw new InvalidRequestException(
                    "%s is not the key of %s, which has one of the kind %s"
                            .formatted(key, certificate, algorithm),
                    e);
        }
    }

    private void checkPair(X509Certificate server, PrivateKey secret)
            throws GeneralSecurityException {
        String algorithm = secret.getAlgorithm().equals("EC") ? "SHA256withECDSA" : "SHA256withRSA";
        if (secret.getAlgorithm().startsWith("Ed")) {
            algorithm = secret.getAlgorithm();
        }
        byte[] any = {1, 2, 3};
        Signature signature = Signature.getInstance(algorithm);
        signature.initSign(secret);
        signature.update(any);
        byte[] signed = signature.sign();
        signature.initVerify(server.getPublicKey());
        signature.update(any);
        if (!signature.verify(signed)) {
            throw new InvalidRequestException(
                    "%s is not the key of %s".formatted(key, certificate));
        }
    }
}
