package io.turbidite.feeds.flow;

import com.fasterxml.jackson.core.io.JsonStringEncoder;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * A record that was not accepted, as a line of the dead-letter file:
 *
 * <pre>{"source":"a.csv","line":7,"offset":513,"reason":"…","raw":"…"}</pre>
 *
 * <p>Raw text over {@value #RAW_BYTES_MAX} bytes is cut, with {@code "rawBytes"} giving its full
 * length; bytes that are not UTF-8 are in {@code "rawBase64"} instead of {@code "raw"}.
 *
 * @param source the file's name
 * @param line from 1
 * @param offset bytes from the start of the file's (uncompressed) content
 * @param reason a sentence
 */
record DeadLetter(String source, long line, long offset, String reason) {
    /** Enough to see what is wrong; position and length lead to the rest. */
    static final int RAW_BYTES_MAX = 64 << 10;

    /** Appends the line, its line end included. */
    void append(ByteSink sink, MemorySegment bytes, long start, int length) {
        append(sink, bytes, start, length, length);
    }

    /**
     * As {@link #append(ByteSink, MemorySegment, long, int)}, of a record that is not there whole.
     *
     * @param fullLength its length
     */
    void append(ByteSink sink, MemorySegment bytes, long start, int length, long fullLength) {
        byte[] raw = new byte[Math.min(length, RAW_BYTES_MAX)];
        MemorySegment.copy(bytes, Bytes.U8, start, raw, 0, raw.length);
        sink.putUtf8("{\"source\":");
        putQuoted(sink, source);
        sink.putUtf8(",\"line\":" + line + ",\"offset\":" + offset + ",\"reason\":");
        putQuoted(sink, reason);
        if (fullLength > raw.length) {
            sink.putUtf8(",\"rawBytes\":" + fullLength);
        }
        String text = text(raw, fullLength > raw.length);
        if (text.isEmpty() && raw.length > 0) {
            sink.putUtf8(",\"rawBase64\":");
            putQuoted(sink, Base64.getEncoder().encodeToString(raw));
        } else {
            sink.putUtf8(",\"raw\":");
            putQuoted(sink, text);
        }
        sink.putUtf8("}\n");
    }

    /** The bytes as text, or empty if they are not UTF-8; a cut may fall inside a character. */
    private static String text(byte[] raw, boolean cut) {
        int length = raw.length;
        for (int dropped = 0; dropped <= (cut ? 3 : 0) && dropped <= length; dropped++) {
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(raw, 0, length - dropped))
                        .toString();
            } catch (CharacterCodingException e) {
                // one byte less may be whole characters
            }
        }
        return "";
    }

    private static void putQuoted(ByteSink sink, String text) {
        sink.putByte('"');
        sink.putBytes(JsonStringEncoder.getInstance().quoteAsUTF8(text));
        sink.putByte('"');
    }
}
