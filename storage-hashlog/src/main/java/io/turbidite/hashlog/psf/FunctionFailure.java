package io.turbidite.hashlog.psf;

/**
 * A user's function that failed on a record. <em>Immutable.</em>
 *
 * @param psfId whose value it was to give
 * @param function its name
 * @param cause what it threw, or what was wrong with what it gave
 */
public record FunctionFailure(int psfId, String function, Throwable cause) {
    @Override
    public String toString() {
        return "function %s of PSF %d failed: %s".formatted(function, psfId, cause);
    }
}
