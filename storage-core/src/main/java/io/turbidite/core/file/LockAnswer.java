package io.turbidite.core.file;

import io.turbidite.core.StoreInUseException;
import io.turbidite.core.StoreInUseException.Holder;

/** What came of asking for the lock of a file: the lock, or who has it. <em>Immutable.</em> */
public sealed interface LockAnswer {
    /**
     * The lock was free.
     *
     * @param lock held until whoever asked closes it
     */
    record Granted(Disk.Lock lock) implements LockAnswer {}

    /**
     * The lock was taken.
     *
     * @param holder who had it when it was asked for
     */
    record Refused(Holder holder) implements LockAnswer {}

    /** This process has it: under this name or another one, or by another class loader. */
    static LockAnswer heldHere() {
        return new Refused(Holder.THIS_PROCESS);
    }

    /** Another process has it. */
    static LockAnswer heldElsewhere() {
        return new Refused(Holder.ANOTHER_PROCESS);
    }

    /**
     * The lock.
     *
     * @param store what people know by its directory
     * @throws StoreInUseException if it was refused; it says by whom
     */
    default Disk.Lock orRefuse(String store) {
        return switch (this) {
            case Granted granted -> granted.lock();
            case Refused refused -> throw new StoreInUseException(store, refused.holder());
        };
    }
}
