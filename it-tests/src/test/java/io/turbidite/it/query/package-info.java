/**
 * Queries over a real store, compared with a walk through all of its records. Start reading at
 * {@link io.turbidite.it.query.QueryAnswersTest}.
 */
@NullMarked
package io.turbidite.it.query;

import org.jspecify.annotations.NullMarked;
