package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.DiskFile;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;

/**
 * Images are never worse than they may be: each byte of each image is the durable one or one that
 * was written there since the last sync. Otherwise recovery would be blamed for what no disk does.
 */
@LeaksOnPurpose("files are open when the power is cut")
class PowerCutTest {
    private static final int SPACE_BYTES = 24 << 10;

    private final long seed = Seeds.of("PowerCutTest");

    @ParameterizedTest
    @EnumSource(Profile.class)
    void everyByteOfEveryImageWasOnceWrittenThere(Profile profile) {
        int runCount = Tier.count(5, 40, 2_000);
        for (int run = 0; run < runCount; run++) {
            checkRun(profile, seed + run);
        }
    }

    private static void checkRun(Profile profile, long runSeed) {
        SplittableRandom random = new SplittableRandom(runSeed);
        SimDisk disk = new SimDisk(runSeed, profile);
        DiskFile file = disk.create("f");
        disk.syncDirectory("");
        Legal legal = new Legal();
        for (int i = 0; i < 60; i++) {
            switch (random.nextInt(8)) {
                case 0 -> {
                    file.sync();
                    legal.sync();
                }
                case 1 -> {
                    int size = random.nextInt(SPACE_BYTES);
                    file.truncate(size);
                    legal.truncate(size);
                }
                default -> {
                    int byteCount = random.nextInt(1, 6_000);
                    int offset = random.nextInt(SPACE_BYTES - byteCount);
                    byte[] bytes = new byte[byteCount];
                    Arrays.fill(bytes, (byte) random.nextInt(8)); // zeros too
                    file.write(offset, MemorySegment.ofArray(bytes), 0, byteCount);
                    legal.write(offset, bytes);
                }
            }
            byte[] image = disk.crashImage(i).content("f");
            String wrong = legal.check(image, profile);
            assertThat(wrong)
                    .as("step %d of run %d, %s", i, runSeed, Seeds.replay("PowerCutTest", runSeed))
                    .isEmpty();
        }
        file.sync();
        assertThat(disk.crashImage(99).content("f")).isEqualTo(disk.content("f"));
    }

    /** What each byte may be, as one bit for each of the eight values that the test writes. */
    private static final class Legal {
        private final byte[] seen = new byte[SPACE_BYTES];
        private final int[] values = new int[SPACE_BYTES];

        /**
         * Offsets that a file that grew over them since the last sync may show another file's bytes
         * at.
         */
        private final BitSet grown = new BitSet();

        private byte[] durable = {};
        private int size;
        private int sizeMin;
        private int sizeMax;

        Legal() {
            Arrays.fill(values, 1);
        }

        void write(int offset, byte[] bytes) {
            for (int i = 0; i < bytes.length; i++) {
                seen[offset + i] = bytes[i];
                values[offset + i] |= 1 << bytes[i];
            }
            resized(Math.max(size, offset + bytes.length));
        }

        void truncate(int newSize) {
            for (int i = newSize; i < SPACE_BYTES; i++) {
                seen[i] = 0;
                values[i] |= 1;
            }
            resized(newSize);
        }

        void sync() {
            durable = Arrays.copyOf(seen, size);
            sizeMin = size;
            sizeMax = size;
            grown.clear();
            for (int i = 0; i < SPACE_BYTES; i++) {
                values[i] = 1 << seen[i];
            }
        }

        String check(byte[] image, Profile profile) {
            if (profile == Profile.STRICT) {
                return Arrays.equals(image, durable) ? "" : "not what was synced";
            }
            if (image.length < sizeMin || image.length > sizeMax) {
                return "%d bytes, not %d to %d".formatted(image.length, sizeMin, sizeMax);
            }
            for (int i = 0; i < image.length; i++) {
                boolean written = image[i] >= 0 && image[i] < 8 && (values[i] & 1 << image[i]) != 0;
                boolean stale = profile == Profile.ADVERSARIAL && grown.get(i);
                if (!written && !stale) {
                    return "byte %d is %d, may be %s"
                            .formatted(i, image[i], Integer.toBinaryString(values[i]));
                }
            }
            return "";
        }

        private void resized(int newSize) {
            size = newSize;
            sizeMin = Math.min(sizeMin, newSize);
            sizeMax = Math.max(sizeMax, newSize);
            grown.set(Math.min(sizeMin, durable.length), sizeMax);
        }
    }
}
