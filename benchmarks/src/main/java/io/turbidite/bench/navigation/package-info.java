/**
 * Index-to-index navigation: LUO19 Figure 10. Start reading at {@link
 * io.turbidite.bench.navigation.NavigationSuite}.
 */
@NullMarked
package io.turbidite.bench.navigation;

import org.jspecify.annotations.NullMarked;
