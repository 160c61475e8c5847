package io.turbidite.core;

/**
 * Another process, or another opening in this one, holds the store or hash log; nothing was
 * changed. {@link #holder()} says which of the two.
 */
public final class StoreInUseException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    /** Who holds it. */
    public enum Holder {
        /** An opening in this process, which has not been closed. */
        THIS_PROCESS("this process, which opened it before and has not closed it"),
        /** A process that is not this one. */
        ANOTHER_PROCESS("another process");

        private final String words;

        Holder(String words) {
            this.words = words;
        }
    }

    private final String store;
    private final Holder holder;

    /**
     * @param store what people know it by, its directory
     * @param holder who has it
     */
    public StoreInUseException(String store, Holder holder) {
        super("the store in %s is in use by %s".formatted(store, holder.words));
        this.store = store;
        this.holder = holder;
    }

    /** What people know it by, its directory. */
    public String store() {
        return store;
    }

    /** Who has it. */
    public Holder holder() {
        return holder;
    }
}
