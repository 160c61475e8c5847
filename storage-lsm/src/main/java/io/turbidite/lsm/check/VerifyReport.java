package io.turbidite.lsm.check;

import java.util.List;

/**
 * The result of a verification.
 *
 * @param datasets datasets checked
 * @param components component files read from end to end
 * @param records live records compared with every index
 * @param errors what is wrong and where, one line each; keeps at most {@link #ERROR_COUNT_MAX}
 */
public record VerifyReport(int datasets, int components, long records, List<String> errors) {
    /** More errors would help nobody. */
    public static final int ERROR_COUNT_MAX = 100;

    public VerifyReport {
        errors = List.copyOf(errors);
    }

    /** Whether nothing is wrong. */
    public boolean isOk() {
        return errors.isEmpty();
    }
}
