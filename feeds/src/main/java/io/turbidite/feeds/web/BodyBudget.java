package io.turbidite.feeds.web;

import io.turbidite.feeds.web.http.Problem;

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

    private final long bytesMax;
    private final AtomicLong used = new AtomicLong();

    BodyBudget(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    Share share() {
        return new Share();
    }

    /** What one request holds. <em>Confined to its thread.</em> */
    final class Share implements AutoCloseable {
        private long held;

        /**
         * Reads a body to its end.
         *
         * @throws Problem with 429 if others hold too much
         */
        List<byte[]> readAll(InputStream body) throws IOException {
            List<byte[]> pieces = new ArrayList<>();
            while (true) {
                byte[] piece = new byte[PIECE_BYTES];
                int count = body.readNBytes(piece, 0, piece.length);
                if (count > 0) {
                    reserve(count);
                    pieces.add(count == piece.length ? piece : Arrays.copyOf(piece, count));
                }
                if (count < piece.length) {
                    return pieces;
                }
            }
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
