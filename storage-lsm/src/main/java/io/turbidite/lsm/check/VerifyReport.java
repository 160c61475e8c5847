package io.turbidite.lsm.check;

import java.util.List;

/**
 * What a verification found.
 *
 * @param datasets datasets looked at
 * @param components component files read from end to end
 * @param records live records compared with every index
 * @param errors what is wrong and where, a line each; at most {@link #ERROR_COUNT_MAX} are kept
 */
public record VerifyReport(int datasets, int components, long records, List<String> errors) {
    /** More would not help anybody. */
    public static final int ERROR_COUNT_MAX = 100;

    public VerifyReport {
        errors = List.copyOf(errors);
    }

    /** Whether nothing is wrong. */
    public boolean isOk() {
        return errors.isEmpty();
    }
}
