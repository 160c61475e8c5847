package io.turbidite.bench.hashlog;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Newline-delimited records in native memory, split beforehand. Lives as long as the process. */
final class RecordFile {
    final MemorySegment bytes;
    /** Record i is [starts[i], starts[i + 1] - 1). */
    final long[] starts;

    private RecordFile(MemorySegment bytes, long[] starts) {
        this.bytes = bytes;
        this.starts = starts;
    }

    static RecordFile read(Path path) throws IOException {
        byte[] content = Files.readAllBytes(path);
        MemorySegment bytes = Arena.global().allocate(content.length + 64L, 64);
        MemorySegment.copy(content, 0, bytes, ValueLayout.JAVA_BYTE, 0, content.length);
        long[] starts = new long[1024];
        int count = 1;
        for (int i = 0; i < content.length; i++) {
            if (content[i] == '\n') {
                if (count == starts.length) {
                    starts = Arrays.copyOf(starts, 2 * count);
                }
                starts[count++] = i + 1L;
            }
        }
        return new RecordFile(bytes, Arrays.copyOf(starts, count));
    }

    int count() {
        return starts.length - 1;
    }

    int length(int record) {
        return (int) (starts[record + 1] - starts[record] - 1);
    }
}
