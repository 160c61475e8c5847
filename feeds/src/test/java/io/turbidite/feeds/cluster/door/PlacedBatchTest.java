package io.turbidite.feeds.cluster.door;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;

/** Which partition a key belongs to. */
class PlacedBatchTest {
    private static Slice key(int id) {
        return Slice.of(("key" + id).getBytes(StandardCharsets.UTF_8));
    }

    /** Records lie by it: another answer loses them. */
    @Test
    void a_key_s_partition_never_changes() {
        int[] partitions = new int[8];
        for (int id = 0; id < partitions.length; id++) {
            partitions[id] = PlacedBatch.partitionOf(key(id), 16);
        }
        assertThat(partitions).containsExactly(15, 5, 12, 6, 8, 6, 3, 7);
    }

    @Test
    void all_partitions_get_their_share() {
        int[] counts = new int[16];
        for (int id = 0; id < 16_000; id++) {
            counts[PlacedBatch.partitionOf(key(id), counts.length)]++;
        }
        for (int count : counts) {
            assertThat(count).isBetween(850, 1_150);
        }
    }
}
