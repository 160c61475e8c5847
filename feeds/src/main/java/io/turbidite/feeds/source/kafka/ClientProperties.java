package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;

import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;

import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * The settings of the clients of a source, secrets included: never shown. <em>Immutable.</em>
 */
final class ClientProperties {
    private final KafkaOptions options;
    private final Map<String, String> resolved;

    private ClientProperties(KafkaOptions options, Map<String, String> resolved) {
        this.options = options;
        this.resolved = resolved;
    }

    /**
     * With what the definition refers to.
     *
     * @throws InvalidRequestException if that is not there
     */
    static ClientProperties of(KafkaOptions options, Path directory) {
        Map<String, String> resolved = new TreeMap<>();
        options.settings().forEach((name, value) -> {
            Reference reference = Reference.of(value);
            if (reference != null) {
                resolved.put(name, reference.resolve(name, directory));
            } else if (ClientSettings.isFile(name)) {
                resolved.put(name, directory.resolve(value).toString());
            } else {
                resolved.put(name, value);
            }
        });
        return new ClientProperties(options, resolved);
    }

    Properties ofConsumer(int messages) {
        Properties properties = common(ConsumerConfig.configNames());
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, options.group());
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
        String member = options.member();
        if (member != null) {
            properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, member);
        }
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        properties.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Integer.toString(messages));
        return properties;
    }

    Properties ofAdmin() {
        return common(AdminClientConfig.configNames());
    }

    private Properties common(Set<String> known) {
        Properties properties = new Properties();
        // the client says each time that a broker is away: not every 50 ms
        properties.put(CommonClientConfigs.RECONNECT_BACKOFF_MS_CONFIG, "500");
        properties.put(CommonClientConfigs.RECONNECT_BACKOFF_MAX_MS_CONFIG, "2000");
        resolved.forEach((name, value) -> {
            if (known.contains(name)) {
                properties.put(name, value);
            }
        });
        properties.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, options.bootstrap());
        // a process may have several clients: no beans of one name
        properties.put(CommonClientConfigs.METRIC_REPORTER_CLASSES_CONFIG, "");
        return properties;
    }
}
