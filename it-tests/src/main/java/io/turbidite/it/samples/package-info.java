/**
 * The code in the documents, where it compiles and runs.
 *
 * <p>What stands between the two marks of a file stands in a document word for word; a test compares
 * them. Start reading at {@link io.turbidite.it.samples.FirstStore}.
 */
@NullMarked
package io.turbidite.it.samples;

import org.jspecify.annotations.NullMarked;
