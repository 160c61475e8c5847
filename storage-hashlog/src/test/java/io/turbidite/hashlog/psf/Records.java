package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.ParserSpec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Records and properties for tests. */
final class Records {
    private Records() {}

    static MemorySegment of(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        MemorySegment segment = Arena.ofAuto().allocate(Math.max(1, bytes.length));
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return segment.asSlice(0, bytes.length);
    }

    static PsfSet json(String... definitions) {
        PsfSet set = PsfSet.empty(new ParserSpec.Json());
        for (int id = 0; id < definitions.length; id++) {
            set = set.with(id, PsfDefinition.parse(definitions[id]));
        }
        return set;
    }

    /** The properties of {@code record}: {@code 0=5 1="x"}, or the reason of its refusal. */
    static String properties(PsfSet set, String record) {
        PropertyExtractor extractor = set.newExtractor();
        Properties properties = new Properties();
        MemorySegment segment = of(record);
        if (!extractor.extract(segment, 0, (int) segment.byteSize(), properties)) {
            return extractor.rejection().toString();
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < properties.count(); i++) {
            text.append(i == 0 ? "" : " ").append(properties.psfId(i)).append('=');
            text.append(valueOf(properties, i, segment));
        }
        return text.toString();
    }

    private static String valueOf(Properties properties, int i, MemorySegment record) {
        if (properties.mode(i) == PropertyMode.INLINE) {
            return Long.toString(properties.inlineValue(i));
        }
        boolean inRegion = properties.mode(i) == PropertyMode.REGION;
        MemorySegment from = inRegion ? properties.region() : record;
        byte[] bytes = from.asSlice(properties.offset(i), properties.length(i))
                .toArray(ValueLayout.JAVA_BYTE);
        String text = bytes.length > 0 && (bytes[0] & 0xFF) == Decimal.TAG
                ? new String(bytes, 1, bytes.length - 1, StandardCharsets.US_ASCII)
                : '"' + new String(bytes, StandardCharsets.UTF_8) + '"';
        return inRegion ? text + "R" : text;
    }
}
