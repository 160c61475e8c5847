package io.turbidite.feeds.source.kafka;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.Map;

/**
 * The names of the fields that parts of a message become; null where one becomes none.
 * <em>Immutable.</em>
 *
 * @param key of the message's key; null too where the key's own members are fields
 * @param keyFormat what a key is
 */
record MessageFields(
        @Nullable String key,
        KeyFormat keyFormat,
        @Nullable String timestamp,
        @Nullable String headers,
        @Nullable String partition,
        @Nullable String offset,
        @Nullable String topic) {
    /** What the bytes of a key are. */
    enum KeyFormat {
        /** Text in UTF-8, which becomes a string. */
        TEXT,
        /** A JSON value. */
        JSON,
        /** A JSON object, whose members become fields. */
        OBJECT
    }

    static MessageFields of(Map<String, String> options) {
        KeyFormat format = keyFormat(options.getOrDefault("keyFormat", "text"));
        String key = options.get("key");
        if ((format == KeyFormat.OBJECT && key != null)
                || (options.containsKey("keyFormat")
                        && format != KeyFormat.OBJECT
                        && key == null)) {
            throw new InvalidRequestException(
                    "key names the field of a key that is text or json; one of keyFormat object has its own");
        }
        return new MessageFields(
                key,
                format,
                options.get("timestamp"),
                options.get("headers"),
                options.get("partition"),
                options.get("offset"),
                options.get("topic"));
    }

    static KeyFormat keyFormat(String value) {
        for (KeyFormat format : KeyFormat.values()) {
            if (format.name().toLowerCase(Locale.ROOT).equals(value)) {
                return format;
            }
        }
        throw new InvalidRequestException("'%s' is not text, json or object".formatted(value));
    }

    /** Whether a key becomes anything. */
    boolean takesKey() {
        return key != null || keyFormat == KeyFormat.OBJECT;
    }

    /** Whether nothing but a message's value becomes a record. */
    boolean isEmpty() {
        return !takesKey()
                && timestamp == null
                && headers == null
                && partition == null
                && offset == null
                && topic == null;
    }
}
