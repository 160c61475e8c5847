/**
 * Rules for classes and documents: which room may use which, checked on the compiled classes, and
 * documents that say what the code says.
 */
@NullMarked
package io.turbidite.it.rules;

import org.jspecify.annotations.NullMarked;
