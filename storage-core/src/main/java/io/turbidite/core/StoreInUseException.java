package io.turbidite.core;

/** Another process, or another opening in this one, holds the store; nothing was changed. */
public final class StoreInUseException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    private final String store;

    /**
     * @param store what people know it by, its directory
     */
    public StoreInUseException(String store) {
        super("the store in %s is in use by another process, or was opened in this one already"
                .formatted(store));
        this.store = store;
    }

    /** What people know it by, its directory. */
    public String store() {
        return store;
    }
}
