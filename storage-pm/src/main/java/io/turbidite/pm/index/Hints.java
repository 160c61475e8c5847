package io.turbidite.pm.index;

import io.turbidite.core.bytes.Slice;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Secondary keys that readers met stale entries of, each once, in the order in which they were met.
 * At most {@value #COUNT_MAX}: a reader that meets more forgets them, and the next one meets them
 * again. <em>Thread-safe.</em>
 */
final class Hints {
    static final int COUNT_MAX = 1_024;

    private final ArrayBlockingQueue<ByteBuffer> queue = new ArrayBlockingQueue<>(COUNT_MAX);

    /** Those in the queue, or on their way into it. */
    private final Set<ByteBuffer> waiting = ConcurrentHashMap.newKeySet();

    /** What a reader looks for a key with. <em>Confined to one thread</em>, and reused. */
    static final class Probe {
        private byte[] bytes = new byte[64];
        private MemorySegment segment = MemorySegment.ofArray(bytes);
        private ByteBuffer buffer = ByteBuffer.wrap(bytes);

        private ByteBuffer of(Slice key) {
            int length = key.length();
            if (length > bytes.length) {
                bytes = new byte[length];
                segment = MemorySegment.ofArray(bytes);
                buffer = ByteBuffer.wrap(bytes);
            }
            MemorySegment.copy(key.segment(), key.offset(), segment, 0, length);
            return buffer.limit(length);
        }
    }

    /**
     * A reader has met stale entries of a key. Makes no garbage for one that waits already, as most
     * do: the next question meets the same entries.
     */
    void add(Slice secondaryKey, Probe probe) {
        if (queue.remainingCapacity() > 0 && !waiting.contains(probe.of(secondaryKey))) {
            ByteBuffer key = ByteBuffer.wrap(secondaryKey.toByteArray());
            if (waiting.add(key) && !queue.offer(key)) {
                waiting.remove(key);
            }
        }
    }

    /** Takes the first one; null if none waits. Whoever meets it from now on adds it again. */
    @Nullable
    Slice poll() {
        ByteBuffer key = queue.poll();
        if (key == null) {
            return null;
        }
        waiting.remove(key);
        byte[] bytes = new byte[key.remaining()];
        key.get(0, bytes);
        return Slice.of(bytes);
    }

    int count() {
        return queue.size();
    }
}
