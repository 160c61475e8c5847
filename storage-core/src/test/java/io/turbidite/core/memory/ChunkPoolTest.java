package io.turbidite.core.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.Objects;

class ChunkPoolTest {
    private final MemoryBudget budget = MemoryBudget.of(64 << 10);
    private final MemoryBudget.Account account = budget.account("test");

    private static Chunk some(@Nullable Chunk chunk) {
        return Objects.requireNonNull(chunk);
    }

    @Test
    void recycles_chunks_and_is_full_at_the_budget() {
        try (ChunkPool pool = ChunkPool.create("test", account, 32 << 10)) {
            Chunk a = some(pool.acquire());
            Chunk b = some(pool.acquire());
            assertThat(pool.acquire()).isNull();
            assertThat(a.byteSize()).isEqualTo(32 << 10);
            assertThat(a.segment().address() % 4_096).isZero();
            assertThat(pool.heldCount()).isEqualTo(2);
            pool.release(a);
            assertThat(pool.acquire()).isSameAs(a);
            pool.release(a);
            pool.release(b);
            assertThat(pool.heldCount()).isZero();
            assertThat(pool.bytesReserved()).isEqualTo(64 << 10);
            assertThat(account.bytesUsed()).isEqualTo(64 << 10);
        }
        assertThat(account.bytesUsed()).isZero();
    }

    @Test
    void a_large_chunk_is_charged_while_it_is_held() {
        try (ChunkPool pool = ChunkPool.create("test", account, 4 << 10)) {
            Chunk common = some(pool.acquire(4 << 10));
            assertThat(common.byteSize()).isEqualTo(4 << 10);
            Chunk large = some(pool.acquire(40_000));
            assertThat(large.byteSize()).isEqualTo(40_000);
            assertThat(account.bytesUsed()).isEqualTo(44_096);
            assertThat(pool.acquire(40_000)).isNull();
            pool.release(large);
            assertThat(account.bytesUsed()).isEqualTo(4_096);
            assertThatThrownBy(() -> large.segment().get(Bytes.U8, 0))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(pool.heldCount()).isEqualTo(1);
        }
    }

    @Test
    void a_chunk_cannot_be_released_twice() {
        try (ChunkPool pool = ChunkPool.create("test", account, 4 << 10)) {
            Chunk chunk = some(pool.acquire());
            pool.release(chunk);
            assertThatThrownBy(() -> pool.release(chunk))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("released twice");
        }
    }

    @Test
    void close_frees_held_chunks_and_late_access_throws() {
        ChunkPool pool = ChunkPool.create("test", account, 4 << 10);
        Chunk common = some(pool.acquire());
        Chunk large = some(pool.acquire(5_000));
        pool.close();
        pool.close();
        assertThat(account.bytesUsed()).isZero();
        assertThat(budget.bytesUsed()).isZero();
        for (Chunk chunk : new Chunk[] {common, large}) {
            assertThatThrownBy(() -> chunk.segment().get(Bytes.U8, 0))
                    .isInstanceOf(IllegalStateException.class);
            pool.release(chunk);
        }
        assertThatThrownBy(pool::acquire).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> pool.acquire(5_000)).isInstanceOf(ClosedException.class);
    }

    @Test
    void memory_that_the_jvm_refuses_is_a_typed_error_and_not_charged() {
        MemoryBudget.Account boundless = MemoryBudget.of(Long.MAX_VALUE).account("boundless");
        try (ChunkPool pool = ChunkPool.create("boundless", boundless)) {
            assertThatThrownBy(() -> pool.acquire(1L << 50))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("MaxDirectMemorySize");
            assertThat(boundless.bytesUsed()).isZero();
            assertThat(pool.acquire()).isNotNull();
        }
    }

    @Test
    void chunk_sizes_are_powers_of_two() {
        assertThatThrownBy(() -> ChunkPool.create("test", account, 5_000))
                .isInstanceOf(InvalidRequestException.class);
        assertThatThrownBy(() -> ChunkPool.create("test", account, 2_048))
                .isInstanceOf(InvalidRequestException.class);
    }
}
