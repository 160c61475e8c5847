package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Objects;

import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;

/**
 * Who a process of a cluster is: a key, and the certificate that the cluster's own authority gave
 * it, with the process's name and the cluster's. Nobody else's authority is believed, and none of
 * the machine's. <em>Immutable.</em>
 */
public final class ClusterIdentity {
    /** The name of the controller. */
    public static final String CONTROLLER = "controller";

    private static final String PROTOCOL = "TLSv1.3";

    private final String cluster;
    private final String name;
    private final SSLContext context;

    private ClusterIdentity(String cluster, String name, SSLContext context) {
        this.cluster = cluster;
        this.name = name;
        this.context = context;
    }

    /**
     * The holder of a certificate.
     *
     * @param authority the certificate of the cluster's authority
     * @param own signed by it
     * @throws InvalidRequestException if {@code own} is not signed by the authority, has no name,
     *     or is not of this time
     */
    public static ClusterIdentity of(
            X509Certificate authority, X509Certificate own, PrivateKey key) {
        try {
            own.verify(authority.getPublicKey());
            own.checkValidity();
            KeyStore keys = empty();
            char[] none = new char[0];
            keys.setKeyEntry("own", key, none, new X509Certificate[] {own, authority});
            KeyManagerFactory ownKeys = KeyManagerFactory.getInstance("PKIX");
            ownKeys.init(keys, none);
            KeyStore trusted = empty();
            trusted.setCertificateEntry("authority", authority);
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            SSLContext context = SSLContext.getInstance(PROTOCOL);
            context.init(ownKeys.getKeyManagers(), trust.getTrustManagers(), null);
            return new ClusterIdentity(part(own, "O"), part(own, "CN"), context);
        } catch (GeneralSecurityException | IOException e) {
            throw new InvalidRequestException("a certificate can't be used: " + e.getMessage(), e);
        }
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** A part of the name that a certificate is for. */
    static String part(X509Certificate certificate, String type) {
        try {
            for (Rdn part :
                    new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase(type)) {
                    return String.valueOf(part.getValue());
                }
            }
        } catch (InvalidNameException e) {
            throw new InvalidRequestException("a certificate has no name", e);
        }
        throw new InvalidRequestException("a certificate does not say " + type);
    }

    /** The cluster that it is of. */
    public String cluster() {
        return cluster;
    }

    /** The name of the process. */
    public String name() {
        return name;
    }

    /** Refuses to be another one. */
    void checkName(String wanted) {
        if (!name.equals(wanted)) {
            throw new InvalidRequestException(
                    "the certificate is that of '%s', and not of '%s'".formatted(name, wanted));
        }
    }

    /** One end of a connection; both ends show who they are. */
    SSLEngine engine(boolean isClient) {
        SSLEngine engine = context.createSSLEngine();
        engine.setEnabledProtocols(new String[] {PROTOCOL});
        engine.setUseClientMode(isClient);
        if (!isClient) {
            engine.setNeedClientAuth(true);
        }
        return engine;
    }

    @Override
    public String toString() {
        return "'%s' of cluster %s".formatted(name, Objects.requireNonNull(cluster));
    }
}
