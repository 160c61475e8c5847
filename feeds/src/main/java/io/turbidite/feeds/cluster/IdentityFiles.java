package io.turbidite.feeds.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterAuthority.Certified;
import io.turbidite.ops.cluster.ClusterIdentity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Set;

/**
 * Keys and certificates of a cluster in files, as others have them too (PEM). Static, without
 * state.
 *
 * <pre>
 * DIRECTORY/authority.crt    what all processes believe
 * DIRECTORY/authority.key    0600; makes certificates, and need not be where a node is
 * DIRECTORY/NAME/authority.crt
 * DIRECTORY/NAME/own.crt     names the process and the cluster
 * DIRECTORY/NAME/own.key     0600
 * </pre>
 */
public final class IdentityFiles {
    private static final String AUTHORITY = "authority";
    private static final String OWN = "own";
    private static final Set<PosixFilePermission> OWNERS =
            PosixFilePermissions.fromString("rw-------");
    private static final int LINE_CHARS = 64;
    private static final String KEY_LABEL = "PRIVATE KEY";
    private static final String CERTIFICATE_LABEL = "CERTIFICATE";

    private IdentityFiles() {}

    /**
     * Writes the authority of a new cluster.
     *
     * @throws InvalidRequestException if there is one
     */
    public static void writeAuthority(Path directory, ClusterAuthority authority) {
        write(directory, AUTHORITY, authority.certified());
    }

    /**
     * Has the authority make the identity of a process, and writes it.
     *
     * @param name of a node, or {@link ClusterIdentity#CONTROLLER}
     * @throws InvalidRequestException if there is one of this name
     */
    public static void writeIdentity(Path directory, ClusterAuthority authority, String name) {
        Certified made = authority.issue(name);
        Path own = directory.resolve(name);
        write(own, OWN, made);
        writeNew(
                own.resolve(AUTHORITY + ".crt"),
                pem(CERTIFICATE_LABEL, encoded(authority.certificate())),
                false);
    }

    /** Reads what {@link #writeAuthority} wrote. */
    public static Certified readAuthority(Path directory) {
        return read(directory, AUTHORITY);
    }

    /**
     * Reads what {@link #writeIdentity} wrote for one process.
     *
     * @param own the directory of the process
     * @throws InvalidRequestException if a file is missing or no PEM, if others may read the key,
     *     or if the certificate is not signed by the authority beside it
     */
    public static ClusterIdentity readIdentity(Path own) {
        Certified read = read(own, OWN);
        return ClusterIdentity.of(
                certificate(own.resolve(AUTHORITY + ".crt")), read.certificate(), read.key());
    }

    private static void write(Path directory, String name, Certified what) {
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        writeNew(directory.resolve(name + ".key"), pem(KEY_LABEL, what.key().getEncoded()), true);
        writeNew(
                directory.resolve(name + ".crt"),
                pem(CERTIFICATE_LABEL, encoded(what.certificate())),
                false);
    }

    private static void writeNew(Path file, String text, boolean isSecret) {
        Set<StandardOpenOption> options =
                EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        try (SeekableByteChannel channel = isSecret && isPosix(file)
                ? Files.newByteChannel(file, options, PosixFilePermissions.asFileAttribute(OWNERS))
                : Files.newByteChannel(file, options)) {
            ByteBuffer bytes = StandardCharsets.US_ASCII.encode(text);
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (FileAlreadyExistsException e) {
            throw new InvalidRequestException(
                    "%s is there already: a cluster is made once".formatted(file), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPosix(Path file) {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix");
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pem(String label, byte[] content) {
        String base64 =
                Base64.getMimeEncoder(LINE_CHARS, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
                .formatted(label, base64, label)
                .replace("\r", "");
    }

    private static Certified read(Path directory, String name) {
        return new Certified(
                certificate(directory.resolve(name + ".crt")),
                key(directory.resolve(name + ".key")));
    }

    private static X509Certificate certificate(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return (X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(in);
        } catch (NoSuchFileException e) {
            throw new InvalidRequestException("%s is missing".formatted(file), e);
        } catch (GeneralSecurityException e) {
            throw new InvalidRequestException("%s is no certificate".formatted(file), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static PrivateKey key(Path file) {
        try {
            if (isPosix(file) && !OWNERS.containsAll(Files.getPosixFilePermissions(file))) {
                throw new InvalidRequestException(
                        "others may read or change %s: set its mode to 0600".formatted(file));
            }
            String text = Files.readString(file, StandardCharsets.US_ASCII);
            String begin = "-----BEGIN %s-----".formatted(KEY_LABEL);
            String end = "-----END %s-----".formatted(KEY_LABEL);
            int from = text.indexOf(begin);
            int to = text.indexOf(end);
            if (from < 0 || to < from) {
                throw new InvalidRequestException("%s is no key".formatted(file));
            }
            byte[] content =
                    Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to));
            return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(content));
        } catch (NoSuchFileException e) {
            throw new InvalidRequestException("%s is missing".formatted(file), e);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new InvalidRequestException("%s is no key".formatted(file), e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
