package io.turbidite.core.geo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

/** Lengths that are remembered from one key to the next are those of each key alone. */
class KeyLengthsTest {
    private static final int KEYS = 20_000;

    private final ByteSink sink = new ByteSink(64, 64);
    private final Slice key = new Slice();

    @Test
    void of_points_near_and_far() {
        SplittableRandom random = new SplittableRandom(15);
        KeyLengths lengths = new KeyLengths(SpatialKind.POINT);
        double x = 0;
        double y = 0;
        for (int i = 0; i < KEYS; i++) {
            // mostly a neighbour, across zero and across classes too
            double step = Math.scalb(1.0, random.nextInt(-40, 12));
            x = random.nextInt(50) == 0 ? random.nextDouble(-2_000, 2_000) : x;
            x = random.nextInt(200) == 0 ? 0 : x + random.nextDouble(-step, step);
            y = random.nextInt(50) == 0 ? random.nextDouble(-1e-9, 1e-9) : y;
            y = random.nextInt(200) == 0 ? -y : y + random.nextDouble(-step, step);
            SpatialKind.POINT.append(x, y, x, y, sink.clear());
            int secondary = sink.length();
            sink.putLong(random.nextLong()).asSlice(key);
            assertThat(lengths.of(key)).as("%s, %s", x, y).isEqualTo(secondary);
        }
    }

    @Test
    void of_rectangles() {
        KeyLengths lengths = new KeyLengths(SpatialKind.RECTANGLE);
        SpatialKind.RECTANGLE.append(1, 2, 3, 4, sink.clear());
        int secondary = sink.length();
        sink.putLong(5).asSlice(key);
        assertThat(lengths.of(key)).isEqualTo(secondary);
    }

    @Test
    void a_key_that_is_cut_short_is_told() {
        KeyLengths lengths = new KeyLengths(SpatialKind.POINT);
        SpatialKind.POINT.append(12.3, 45.6, 12.3, 45.6, sink.clear());
        assertThat(lengths.of(sink.asSlice(key))).isEqualTo(key.length());
        Slice cut = new Slice().set(key.segment(), key.offset(), key.length() - 1);
        assertThatExceptionOfType(CorruptionException.class).isThrownBy(() -> lengths.of(cut));
    }
}
