/**
 * Who may do what: tokens, kept as salted hashes, and what callers without one may.
 *
 * <p>Invariant: no token is ever written or logged, and how long a comparison takes says nothing
 * of it. Start reading at {@link io.turbidite.feeds.web.access.Gate}.
 */
@NullMarked
package io.turbidite.feeds.web.access;

import org.jspecify.annotations.NullMarked;
