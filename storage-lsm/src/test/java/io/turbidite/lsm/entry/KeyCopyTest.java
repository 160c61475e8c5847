package io.turbidite.lsm.entry;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

/** A key that is remembered, by words or as bytes, says of other keys what its bytes say. */
class KeyCopyTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("KeyCopyTest"));
    private final KeyCopy copy = new KeyCopy();

    @Test
    void nothing_is_shared_with_a_key_that_is_not_there() {
        assertThat(copy.sharedBytes(Slice.of(new byte[] {0, 0}))).isZero();
        assertThat(copy.length()).isZero();
    }

    @Test
    void shared_bytes_and_equality_are_those_of_the_arrays() {
        for (int round = 0; round < 20_000; round++) {
            byte[] key = randomKey();
            byte[] other = random.nextInt(3) == 0 ? randomKey() : similar(key);
            copy.set(Slice.of(key));

            int mismatch = Arrays.mismatch(key, other);
            int shared = mismatch < 0 ? key.length : mismatch;
            assertThat(copy.sharedBytes(Slice.of(other))).isEqualTo(shared);
            assertThat(copy.matches(Slice.of(other))).isEqualTo(mismatch < 0);
            assertThat(copy.length()).isEqualTo(key.length);
            for (int i = 0; i < key.length; i++) {
                assertThat(copy.byteAt(i)).isEqualTo(key[i]);
            }
            assertThat(copy.asSlice(new Slice()).toByteArray()).isEqualTo(key);
        }
    }

    @Test
    void of_an_entry_in_brief_it_says_what_it_says_of_its_key() {
        EntryHead entry = new EntryHead();
        EntryHead first = new EntryHead();
        for (int round = 0; round < 20_000; round++) {
            byte[] key = randomKey();
            byte[] other = random.nextInt(3) == 0 ? randomKey() : similar(key);
            first.note(Slice.of(key), 7, false);
            entry.note(Slice.of(other), 9, true);
            copy.set(first);

            int mismatch = Arrays.mismatch(key, other);
            assertThat(copy.sharedBytes(entry)).isEqualTo(mismatch < 0 ? key.length : mismatch);
            assertThat(copy.matches(entry)).isEqualTo(mismatch < 0);
            int order = Integer.signum(Arrays.compareUnsigned(key, other));
            assertThat(copy.precedes(entry)).isEqualTo(order < 0);
            assertThat(Integer.signum(first.compareKeys(entry))).isEqualTo(order);
            assertThat(copy.asSlice(new Slice()).toByteArray()).isEqualTo(key);
            ByteSink sink = new ByteSink(16, 1 << 10).putByte(1);
            entry.putKey(sink);
            assertThat(sink.asSlice(new Slice()).toByteArray())
                    .startsWith(1)
                    .endsWith(other)
                    .hasSize(1 + other.length);
        }
    }

    /** Up to three words, mostly zeros, which is what words are padded with. */
    private byte[] randomKey() {
        byte[] key = new byte[1 + random.nextInt(24)];
        for (int i = 0; i < key.length; i++) {
            key[i] = random.nextBoolean() ? 0 : (byte) random.nextInt();
        }
        return key;
    }

    /** The same beginning, another length, perhaps another byte. */
    private byte[] similar(byte[] key) {
        byte[] other = Arrays.copyOf(key, 1 + random.nextInt(24));
        if (random.nextBoolean()) {
            other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        }
        return other;
    }
}
