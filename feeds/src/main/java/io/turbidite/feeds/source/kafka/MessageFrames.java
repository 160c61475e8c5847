package io.turbidite.feeds.source.kafka;

import io.turbidite.feeds.parse.JsonText;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.kafka.MessageFields.KeyFormat;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;

/**
 * Makes the text of a record of a message: its value, and in front of the value's members those
 * that the definition asks for. A message without a value asks for the record of its key to be
 * deleted. <em>Confined to the thread of the run.</em>
 *
 * <p>A value that is no text stands behind an object of those members.
 *
 * <p>Text is composed of bytes and not of a tree, since a tree of each record costs as much as its
 * parsing. What results is parsed strictly: a name that the value has too makes it a dead letter.
 */
final class MessageFrames {
    private final MessageFields fields;
    private final JsonText text = new JsonText();

    /** Of messages that are records or to be parsed as such. */
    private final RecordFrame frame = RecordFrame.of(new byte[0], 0, 1);

    private boolean hasMember;

    /** Whether values are bytes behind an object of the members. */
    private final boolean isBinary;

    MessageFrames(MessageFields fields, boolean isBinary) {
        this.fields = fields;
        this.isBinary = isBinary;
    }

    /** Valid until the next one. */
    RecordFrame frame(ConsumerRecord<byte[], byte[]> message) {
        byte @Nullable [] value = message.value();
        long offset = message.offset();
        if (value == null && (!fields.takesKey() || message.key() == null)) {
            return RecordFrame.ofProblem(
                    new byte[0],
                    offset,
                    offset + 1,
                    message.key() == null
                            ? "it has neither key nor value"
                            : "it has no value, and the definition has no key to delete by");
        }
        if (value == null) {
            begin();
            members(message);
            text.put('}');
            byte[] key = Arrays.copyOf(text.bytes(), text.length());
            return RecordFrame.ofDelete(key, offset, offset + 1);
        }
        if (isBinary) {
            begin();
            members(message);
            text.put('}');
            text.put(value);
            return frame.set(text.bytes(), text.length(), offset, offset + 1);
        }
        int open = fields.isEmpty() ? -1 : objectStart(value);
        if (open < 0) {
            // what is no object the parser refuses
            return frame.set(value, value.length, offset, offset + 1);
        }
        begin();
        members(message);
        int rest = skipSpace(value, open + 1);
        if (hasMember && rest < value.length && value[rest] != '}') {
            text.put(',');
        }
        text.put(value, open + 1, value.length);
        return frame.set(text.bytes(), text.length(), offset, offset + 1);
    }

    private void begin() {
        text.clear();
        text.put('{');
        hasMember = false;
    }

    private void members(ConsumerRecord<byte[], byte[]> message) {
        if (fields.takesKey()) {
            key(message.key());
        }
        if (fields.timestamp() != null && message.timestamp() >= 0) {
            name(fields.timestamp());
            text.string(Instant.ofEpochMilli(message.timestamp()).toString());
        }
        if (fields.partition() != null) {
            name(fields.partition());
            text.ascii(Integer.toString(message.partition()));
        }
        if (fields.offset() != null) {
            name(fields.offset());
            text.ascii(Long.toString(message.offset()));
        }
        if (fields.topic() != null) {
            name(fields.topic());
            text.string(message.topic());
        }
        if (fields.headers() != null) {
            headers(fields.headers(), message);
        }
    }

    private void key(byte @Nullable [] key) {
        if (key == null) {
            return; // a missing field
        }
        if (fields.keyFormat() == KeyFormat.OBJECT) {
            int open = objectStart(key);
            int close = lastNonSpace(key);
            if (open < 0 || close <= open || key[close] != '}') {
                name("key"); // which no record is: the parser says so of a name without a value
                return;
            }
            if (skipSpace(key, open + 1) < close) {
                separate();
                text.put(key, open + 1, close);
            }
            return;
        }
        name(Objects.requireNonNull(fields.key()));
        if (fields.keyFormat() == KeyFormat.TEXT) {
            text.string(key);
        } else {
            text.put(key, 0, key.length);
        }
    }

    /** An object of texts; of a name that comes twice the last one counts, as for Kafka. */
    private void headers(String field, ConsumerRecord<byte[], byte[]> message) {
        name(field);
        text.put('{');
        hasMember = false;
        Header[] headers = message.headers().toArray();
        for (int i = 0; i < headers.length; i++) {
            if (isLast(headers, i)) {
                name(headers[i].key());
                byte @Nullable [] value = headers[i].value();
                if (value == null) {
                    text.ascii("null");
                } else {
                    text.string(value);
                }
            }
        }
        text.put('}');
        hasMember = true;
    }

    private static boolean isLast(Header[] headers, int index) {
        for (int i = index + 1; i < headers.length; i++) {
            if (headers[i].key().equals(headers[index].key())) {
                return false;
            }
        }
        return true;
    }

    private void separate() {
        if (hasMember) {
            text.put(',');
        }
        hasMember = true;
    }

    private void name(String name) {
        separate();
        text.string(name);
        text.put(':');
    }

    /** Where the bracket of an object stands; -1 if it is none. */
    private static int objectStart(byte[] bytes) {
        int at = skipSpace(bytes, 0);
        return at < bytes.length && bytes[at] == '{' ? at : -1;
    }

    private static int skipSpace(byte[] bytes, int from) {
        int at = from;
        while (at < bytes.length && isSpace(bytes[at])) {
            at++;
        }
        return at;
    }

    private static int lastNonSpace(byte[] bytes) {
        int at = bytes.length - 1;
        while (at >= 0 && isSpace(bytes[at])) {
            at--;
        }
        return at;
    }

    private static boolean isSpace(byte b) {
        return b == ' ' || b == '\n' || b == '\r' || b == '\t';
    }
}
