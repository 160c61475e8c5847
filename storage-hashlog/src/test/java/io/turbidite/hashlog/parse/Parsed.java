package io.turbidite.hashlog.parse;

import io.turbidite.core.expr.FieldPath;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/** Parsers for tests, and records in native memory that ends where they end. */
final class Parsed {
    private Parsed() {}

    /** The modes that this JVM can run. */
    static List<ScanMode> modes() {
        return Arrays.stream(ScanMode.values()).filter(ScanMode::isAvailable).toList();
    }

    static List<FieldPath> paths(String... paths) {
        return Arrays.stream(paths).map(FieldPath::parse).toList();
    }

    static RecordParser json(ScanMode mode, String... paths) {
        return new ParserSpec.Json().newParser(paths(paths), FieldListener.NONE, mode);
    }

    /** Parses {@code record} out of a segment that has {@code before} other bytes ahead of it. */
    static boolean parse(RecordParser parser, byte[] record, int before) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment =
                    arena.allocate(before + record.length + 1L).asSlice(0, before + record.length);
            segment.fill((byte) '"');
            MemorySegment.copy(record, 0, segment, ValueLayout.JAVA_BYTE, before, record.length);
            return parser.parse(segment, before, record.length);
        }
    }

    /** What a parser makes of a record, as text to compare. */
    static String outcome(RecordParser parser, byte[] record) {
        if (!parse(parser, record, 3)) {
            return parser.values().rejection().toString();
        }
        StringBuilder text = new StringBuilder();
        for (int f = 0; f < parser.values().fieldCount(); f++) {
            text.append(parser.values().kind(f))
                    .append(' ')
                    .append(parser.values().text(f))
                    .append('|');
        }
        return text.toString();
    }
}
