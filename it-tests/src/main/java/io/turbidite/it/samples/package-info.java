/**
 * The code samples of the documents, compiled and run.
 *
 * <p>A document contains the text between the two marks of a file word for word; a test compares
 * them. Start reading at {@link io.turbidite.it.samples.FirstStore}.
 */
@NullMarked
package io.turbidite.it.samples;

import org.jspecify.annotations.NullMarked;
