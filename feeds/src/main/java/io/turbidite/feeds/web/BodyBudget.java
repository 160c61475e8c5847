package io.turbidite.feeds.web;

import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.SpareBytes;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The memory that bodies of requests share which are kept whole. Who finds none left is told to
 * come back; one body alone is always kept, as long as its route takes it. <em>Thread-safe.</em>
 */
final class BodyBudget {
    /** As much as one feed's parcels may hold. */
    static final long BYTES_MAX = 64 << 20;

    private static final int PIECE_BYTES = 64 << 10;

    /** So few bytes are copied out of a piece that is meant for more. */
    private static final int COPIED_BYTES_MAX = PIECE_BYTES / 2;

    private final long bytesMax;
    private final AtomicLong used = new AtomicLong();
    private final SpareBytes spare = new SpareBytes();

    BodyBudget(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    Share share() {
        return new Share();
    }

    /** What one request holds. <em>Confined to its thread.</em> */
    final class Share implements AutoCloseable {
        private final List<byte[]> pieces = new ArrayList<>();
        private long held;

        /**
         * Reads a body to its end.
         *
         * @throws Problem with 429 if others hold too much
         */
        Parcel readAll(InputStream body) throws IOException {
            long byteCount = 0;
            while (true) {
                byte[] piece = spare.take(PIECE_BYTES);
                int count = body.readNBytes(piece, 0, piece.length);
                byteCount += count;
                if (count <= COPIED_BYTES_MAX) {
                    byte[] copy = Arrays.copyOf(piece, count);
                    spare.give(piece);
                    piece = copy;
                }
                if (count > 0) {
                    reserve(piece.length);
                    pieces.add(piece);
                }
                if (count < PIECE_BYTES) {
                    return Parcel.of(pieces, byteCount);
                }
            }
        }

        /** Nobody reads any more what was read. */
        void giveBack() {
            pieces.forEach(spare::give);
            pieces.clear();
        }

        private void reserve(int byteCount) {
            held += byteCount;
            if (used.addAndGet(byteCount) > bytesMax && used.get() > held) {
                throw Problem.of(
                                429,
                                "requests hold %d bytes, as many as may be".formatted(bytesMax))
                        .retry(1);
            }
        }

        @Override
        public void close() {
            used.addAndGet(-held);
            held = 0;
        }
    }
}
