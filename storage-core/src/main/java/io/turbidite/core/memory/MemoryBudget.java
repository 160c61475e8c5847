package io.turbidite.core.memory;

import io.turbidite.core.InvalidRequestException;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The most memory off the heap that a store may hold, and who holds how much of it.
 *
 * <p><em>Thread-safe: counters moved by compare-and-swap.</em> A reservation is made before the
 * memory is allocated and released after it is freed, so that the sum over all accounts bounds what
 * the process really holds. Reserving is meant for chunks of many KiB, not for records.
 *
 * <p>Invariant: the sum of {@code bytesUsed} of the accounts is at most {@code bytesMax}, at any
 * moment.
 */
public final class MemoryBudget {
    private final long bytesMax;
    private final AtomicLong bytesUsed = new AtomicLong();
    private final List<Account> accounts = new CopyOnWriteArrayList<>();

    private MemoryBudget(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /**
     * A budget that nobody uses yet.
     *
     * @throws InvalidRequestException if {@code bytesMax} is not positive
     */
    public static MemoryBudget of(long bytesMax) {
        checkPositive("a memory budget", bytesMax);
        return new MemoryBudget(bytesMax);
    }

    /** An account that may take all that is free. */
    public Account account(String owner) {
        return account(owner, bytesMax);
    }

    /**
     * An account that may take what is free, up to {@code accountBytesMax}.
     *
     * @param owner who holds the memory, for reports: {@code "cache"}, {@code "memory components"}
     */
    public Account account(String owner, long accountBytesMax) {
        checkPositive("the memory share of " + owner, accountBytesMax);
        Account account = new Account(owner, Math.min(accountBytesMax, bytesMax));
        accounts.add(account);
        return account;
    }

    /** The most bytes that may be taken at a time. */
    public long bytesMax() {
        return bytesMax;
    }

    /** What all accounts have reserved together. */
    public long bytesUsed() {
        return bytesUsed.get();
    }

    /** The accounts in the order in which they were opened; a snapshot. */
    public List<Account> accounts() {
        return List.copyOf(accounts);
    }

    @Override
    public String toString() {
        return "MemoryBudget[%d of %d bytes, %s]".formatted(bytesUsed(), bytesMax, accounts);
    }

    private static void checkPositive(String what, long bytes) {
        if (bytes <= 0) {
            throw new InvalidRequestException(
                    "%s must be a positive number of bytes, not %d".formatted(what, bytes));
        }
    }

    /** Adds {@code bytes} unless that would exceed {@code max}. */
    private static boolean addUpTo(AtomicLong used, long bytes, long max) {
        while (true) {
            long before = used.get();
            if (bytes > max - before) {
                return false;
            }
            if (used.compareAndSet(before, before + bytes)) {
                return true;
            }
        }
    }

    /** One owner's part of the budget. <em>Thread-safe.</em> */
    public final class Account {
        private final String owner;
        private final long accountBytesMax;
        private final AtomicLong accountBytesUsed = new AtomicLong();
        private final AtomicLong accountBytesPeak = new AtomicLong();

        private Account(String owner, long accountBytesMax) {
            this.owner = owner;
            this.accountBytesMax = accountBytesMax;
        }

        /**
         * Takes {@code bytes} if the account and the budget have room for all of them.
         *
         * @return whether they were taken; nothing is taken otherwise
         */
        public boolean reserve(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("reserve " + bytes + " bytes");
            }
            if (bytes > 0 && !MemoryCheck.admits(owner, bytes)) {
                return false;
            }
            if (!addUpTo(accountBytesUsed, bytes, accountBytesMax)) {
                return false;
            }
            if (!addUpTo(bytesUsed, bytes, bytesMax)) {
                accountBytesUsed.addAndGet(-bytes);
                return false;
            }
            assert Holders.enter(this);
            accountBytesPeak.accumulateAndGet(accountBytesUsed.get(), Math::max);
            return true;
        }

        /** Gives back {@code bytes} that were reserved. */
        public void release(long bytes) {
            if (bytes < 0) {
                throw new IllegalArgumentException("release " + bytes + " bytes");
            }
            long left = accountBytesUsed.addAndGet(-bytes);
            long leftOfAll = bytesUsed.addAndGet(-bytes);
            assert left >= 0 && leftOfAll >= 0 : owner + " released more than it had: " + left;
            assert left > 0 || Holders.leave(this);
        }

        /** Who takes, for messages. */
        public String owner() {
            return owner;
        }

        /** The most bytes that may be taken at a time. */
        public long bytesMax() {
            return accountBytesMax;
        }

        /** How many bytes are taken now. */
        public long bytesUsed() {
            return accountBytesUsed.get();
        }

        /**
         * The most that was reserved at once; may count a reservation that the budget then refused.
         */
        public long bytesPeak() {
            return accountBytesPeak.get();
        }

        /** What could be reserved now, if nobody else reserved meanwhile. */
        public long bytesFree() {
            return Math.max(
                    0,
                    Math.min(
                            accountBytesMax - bytesUsed(),
                            bytesMax - MemoryBudget.this.bytesUsed()));
        }

        @Override
        public String toString() {
            return "%s: %d of %d bytes".formatted(owner, bytesUsed(), accountBytesMax);
        }
    }
}
