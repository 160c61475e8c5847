package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The settings of Kafka's client that a definition may have, as the client calls them, and what
 * each of them is. Those that make the client load classes, run programs or give up what this
 * source promises are none of them.
 */
final class ClientSettings {
    /** What the value of a setting is. */
    private enum Is {
        PLAIN,
        /** Never written out in a definition. */
        SECRET,
        /** The path of a file. */
        FILE
    }

    private static final Map<String, Is> KNOWN = new TreeMap<>(Map.ofEntries(
            Map.entry("client.id", Is.PLAIN),
            Map.entry("client.rack", Is.PLAIN),
            Map.entry("connections.max.idle.ms", Is.PLAIN),
            Map.entry("fetch.max.bytes", Is.PLAIN),
            Map.entry("fetch.max.wait.ms", Is.PLAIN),
            Map.entry("fetch.min.bytes", Is.PLAIN),
            Map.entry("max.partition.fetch.bytes", Is.PLAIN),
            Map.entry("max.poll.interval.ms", Is.PLAIN),
            Map.entry("metadata.max.age.ms", Is.PLAIN),
            Map.entry("receive.buffer.bytes", Is.PLAIN),
            Map.entry("reconnect.backoff.max.ms", Is.PLAIN),
            Map.entry("reconnect.backoff.ms", Is.PLAIN),
            Map.entry("request.timeout.ms", Is.PLAIN),
            Map.entry("retry.backoff.ms", Is.PLAIN),
            Map.entry("sasl.jaas.config", Is.SECRET),
            Map.entry("sasl.mechanism", Is.PLAIN),
            Map.entry("security.protocol", Is.PLAIN),
            Map.entry("ssl.cipher.suites", Is.PLAIN),
            Map.entry("ssl.enabled.protocols", Is.PLAIN),
            Map.entry("ssl.endpoint.identification.algorithm", Is.PLAIN),
            Map.entry("ssl.key.password", Is.SECRET),
            Map.entry("ssl.keystore.certificate.chain", Is.PLAIN),
            Map.entry("ssl.keystore.key", Is.SECRET),
            Map.entry("ssl.keystore.location", Is.FILE),
            Map.entry("ssl.keystore.password", Is.SECRET),
            Map.entry("ssl.keystore.type", Is.PLAIN),
            Map.entry("ssl.protocol", Is.PLAIN),
            Map.entry("ssl.truststore.certificates", Is.PLAIN),
            Map.entry("ssl.truststore.location", Is.FILE),
            Map.entry("ssl.truststore.password", Is.SECRET),
            Map.entry("ssl.truststore.type", Is.PLAIN)));

    private ClientSettings() {}

    static Set<String> names() {
        return new TreeSet<>(KNOWN.keySet());
    }

    static boolean isFile(String name) {
        return KNOWN.get(name) == Is.FILE;
    }

    /**
     * Refuses a secret that is written out.
     *
     * @throws InvalidRequestException which does not repeat it
     */
    static void check(String name, String value) {
        if (KNOWN.get(name) == Is.SECRET && Reference.of(value) == null) {
            throw new InvalidRequestException(
                    "a secret is not written into a definition, which the store keeps: refer to it, ${env:NAME} or ${file:PATH}");
        }
    }
}
