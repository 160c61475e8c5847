package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.entry.EntryHead;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The Bloom filter of tokens lets through every token of a component, and few others. */
class TokenBloomTest {
    private static final String GOLDEN = "component-v6-tokens.hex";
    private static final String GOLDEN_5 = "component-v5-tokens.hex";
    private static final int TOKENS = 300;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);

    private static ComponentOptions options() {
        return ComponentOptions.secondary().withPageBytes(4_096).withBloom(true).withTokens(true);
    }

    private static String token(int number) {
        return "t" + Integer.toString(number * 7919 % 100_000, 36);
    }

    /** Tokens of one to five entries, one with many, and one with the same beginning. */
    private static Entries entries() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < TOKENS; i++) {
            for (int key = 0; key < (i == 7 ? 90 : 1 + i % 5); key++) {
                entries.add(
                        new Entry(key(token(i), key), 1_000 + i + key, key % 4 == 3, new byte[0]));
            }
        }
        entries.add(new Entry(key(token(7) + "x", 1), 1_500, false, new byte[0]));
        return Entries.of(entries);
    }

    private static byte[] key(String token, long primaryKey) {
        ByteSink key = new ByteSink(64, 1_024);
        key.putBytes(MemorySegment.ofArray(TokenKeys.encode(token)), 0, tokenBytes(token));
        key.putLongBigEndian(primaryKey);
        return key.asSlice(new Slice()).toByteArray();
    }

    private static int tokenBytes(String token) {
        return TokenKeys.encode(token).length;
    }

    private static long hash(String token) {
        return BloomFilter.hash(Slice.of(TokenKeys.encode(token)));
    }

    @Test
    void everyTokenIsLetThroughAndFewOthers() {
        Components.write(disk, options(), entries());
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            assertThat(component.options()).isEqualTo(options());
            assertThat(Components.verify(component)).isEmpty();
            for (int i = 0; i < TOKENS; i++) {
                assertThat(component.mayContainToken(hash(token(i)))).isTrue();
            }
            int errors = 0;
            for (int i = 0; i < 10_000; i++) {
                errors += component.mayContainToken(hash("absent" + i)) ? 1 : 0;
            }
            assertThat(errors).isBetween(1, 300);
            // it says nothing of keys, and is as large as tokens need, not entries
            assertThat(component.hasBloom()).isFalse();
            assertThat(component.mayContain(BloomFilter.hash(Slice.of(key("absent", 1)))))
                    .isTrue();
            assertThat(component.space().bloom())
                    .isLessThanOrEqualTo(
                            Block.HEADER_BYTES + BloomFilter.bytesFor(TOKENS + 1, 0.01));
        }
    }

    @Test
    void theArchivedFileIsReadAndStillWritten() throws IOException {
        Components.write(disk, options(), entries());
        String written = HexFormat.of().formatHex(disk.content(Components.NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(GOLDEN + "\n" + written);
            return;
        }
        assertThat(written).isEqualTo(ComponentFormatTest.golden(GOLDEN));
        disk.put(Components.NAME, HexFormat.of().parseHex(ComponentFormatTest.golden(GOLDEN_5)));
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(disk, cache)) {
            assertThat(Components.verify(component)).isEmpty();
        }
    }

    @Test
    void verifyFindsATokenThatTheFilterLacks() {
        Components.write(disk, options(), entries());
        byte[] forged = disk.content(Components.NAME);
        for (int word = 0; word < 8; word++) {
            ComponentDamageTest.forge(forged, Block.Kind.BLOOM, 32 + 64 + word * 8, _ -> 0L);
        }
        SimDisk other = new SimDisk(1, Profile.STRICT);
        other.put(Components.NAME, forged);
        try (BufferCache cache = Components.cache(8 << 20);
                DiskComponent component = Components.open(other, cache)) {
            assertThat(Components.verify(component).toString())
                    .contains("the token of", "is not in the Bloom filter");
        }
    }

    @Test
    void moreTokensThanAreKeptAreLetThroughToo() {
        TokenBloom bloom = new TokenBloom(0.01, 6_000, 100);
        EntryHead entry = new EntryHead();
        byte[] before = new byte[0];
        for (Entry next : manyTokens(3_000)) {
            int shared = java.util.Arrays.mismatch(before, next.key());
            entry.note(next.keySlice(), 1, false);
            bloom.add(entry, shared);
            before = next.key();
        }
        MemorySegment built = bloom.build(Arena.ofAuto());
        BloomFilter filter = BloomFilter.over(built, 0, built.byteSize());
        assertThat(filter.keyCount()).isEqualTo(3_000);
        for (int i = 0; i < 3_000; i++) {
            assertThat(filter.mayContain(hash("many" + i))).isTrue();
        }
        int errors = 0;
        for (int i = 0; i < 10_000; i++) {
            errors += filter.mayContain(hash("absent" + i)) ? 1 : 0;
        }
        assertThat(errors).isLessThan(300);
    }

    private static List<Entry> manyTokens(int count) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(new Entry(key("many" + i, 1), 1, false, new byte[0]));
            entries.add(new Entry(key("many" + i, 2), 1, false, new byte[0]));
        }
        return List.of(Entries.of(entries).sorted.toArray(Entry[]::new));
    }

    @Test
    void aKeyWithoutATokenIsRefused() {
        EntryHead entry = new EntryHead();
        entry.note(Slice.of(new byte[] {'a', 'b'}), 1, false);
        assertThatThrownBy(() -> new TokenBloom(0.01, 1).add(entry, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
