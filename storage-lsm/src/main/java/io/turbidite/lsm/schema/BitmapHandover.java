package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;

import java.util.Locale;

/**
 * How marks of superseded records reach a component that a flush or a merge is building, under the
 * mutable-bitmap strategy (LUO19 §5.3).
 */
public enum BitmapHandover {
    /** They are kept by key and applied when it is built: the least work for a writer. */
    SIDE_FILE,
    /** They are set in it at once: nothing is left to do while writers wait. */
    LOCK;

    /** The name in definitions: {@code side-file}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Whether writers and builders lock one another out. */
    public boolean isByLocks() {
        return this == LOCK;
    }

    /**
     * The method with this label.
     *
     * @throws InvalidRequestException naming both
     */
    public static BitmapHandover ofLabel(String label) {
        for (BitmapHandover method : values()) {
            if (method.label().equals(label)) {
                return method;
            }
        }
        throw new InvalidRequestException(
                "bitmapHandover is '%s' but must be side-file or lock".formatted(label));
    }

    /**
     * Checks that a dataset with this strategy can be told which method to use.
     *
     * @throws InvalidRequestException if it has no mutable bitmaps
     */
    public void checkWith(Maintenance maintenance, String dataset) {
        if (this == LOCK && maintenance != Maintenance.MUTABLE_BITMAP) {
            throw new InvalidRequestException(
                    "dataset %s: bitmapHandover lock needs maintenance mutable-bitmap, not %s"
                            .formatted(dataset, maintenance.label()));
        }
    }
}
