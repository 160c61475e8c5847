/**
 * Queries over a real store, against what a walk through all of its records gives. Start reading at {@link
 * io.turbidite.it.query.QueryAnswersTest}.
 */
@NullMarked
package io.turbidite.it.query;

import org.jspecify.annotations.NullMarked;
