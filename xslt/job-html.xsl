<?xml version="1.0" encoding="UTF-8"?>
<!--
  Job objects as a page to read: one HTML file that needs nothing else.

  For a job, a job group, or anything that holds many. What was requested stands beside what was
  delivered, times and durations are written for people, dependencies lead to the jobs they name.
  Works on paper, in light and in dark, with a keyboard and a screen reader. The parameter title
  is that of the page.
-->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP"
                xmlns:date="http://exslt.org/dates-and-times"
                xmlns:sheet="urn:sssjob:sheet" exclude-result-prefixes="s date sheet">

  <sheet:about>jobs as a readable, self-contained HTML page</sheet:about>

  <xsl:output method="html" encoding="UTF-8" doctype-system="about:legacy-compat" indent="no"/>

  <xsl:param name="title"/>

  <xsl:key name="job-by-id"   match="Job[Id]   | s:Job[s:Id]"   use="normalize-space((Id | s:Id)[1])"/>
  <xsl:key name="job-by-name" match="Job[Name] | s:Job[s:Name]" use="normalize-space((Name | s:Name)[1])"/>

  <!-- Looked up: who looks among the siblings of each job reads a group once for each of its jobs -->
  <xsl:key name="defaults" match="JobDefaults | s:JobDefaults" use="generate-id(..)"/>

  <xsl:variable name="upper">ABCDEFGHIJKLMNOPQRSTUVWXYZ</xsl:variable>
  <xsl:variable name="lower">abcdefghijklmnopqrstuvwxyz</xsl:variable>
  <xsl:variable name="digits">0123456789</xsl:variable>

  <!-- What the parts below show, each in a place of its own -->
  <xsl:variable name="shown"> Id Name State StatusMessage SubmitTime EligibleTime StagedTime ReservationTime StartTime EndTime DeadlineTime CreationTime Job JobDefaults TaskGroup TaskGroupDefaults Task TaskDefaults Requested Delivered Environment ResourceLimit Dependency Description </xsl:variable>
  <xsl:variable name="moments"> CreationTime SubmitTime EligibleTime ReservationTime StagedTime StartTime EndTime DeadlineTime </xsl:variable>
  <xsl:variable name="durations"> Duration CpuDuration SuspendDuration </xsl:variable>


  <!-- The page -->

  <xsl:template match="/">
    <xsl:variable name="jobs" select="//Job[*] | //s:Job[*]"/>
    <xsl:variable name="heading">
      <xsl:choose>
        <xsl:when test="$title != ''"><xsl:value-of select="$title"/></xsl:when>
        <xsl:when test="JobGroup or s:JobGroup">Job group <xsl:value-of select="normalize-space(*/*[local-name() = 'Id'][1])"/></xsl:when>
        <xsl:when test="count($jobs) = 1">Job <xsl:value-of select="normalize-space($jobs/*[local-name() = 'Id'][1])"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="count($jobs)"/> jobs</xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <html lang="en">
      <head>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
        <title><xsl:value-of select="$heading"/></title>
        <style><xsl:call-template name="style"/></style>
      </head>
      <body>
        <main>
          <xsl:if test="not(Job or s:Job or JobGroup or s:JobGroup) or $title != ''">
            <h1><xsl:value-of select="$heading"/></h1>
          </xsl:if>
          <xsl:if test="count($jobs) &gt; 1 and not(JobGroup or s:JobGroup)"><xsl:call-template name="overview"><xsl:with-param name="jobs" select="$jobs"/></xsl:call-template></xsl:if>
          <xsl:apply-templates select="*" mode="find"/>
        </main>
      </body>
    </html>
  </xsl:template>

  <!-- Through wrappers to what is shown -->
  <xsl:template match="*" mode="find"><xsl:apply-templates select="*" mode="find"/></xsl:template>
  <xsl:template match="Job | s:Job | JobGroup | s:JobGroup | TaskGroup | s:TaskGroup" mode="find">
    <xsl:apply-templates select="."/>
  </xsl:template>

  <xsl:template name="overview">
    <xsl:param name="jobs"/>
    <nav aria-label="Jobs">
      <table class="overview">
        <thead><tr><th scope="col">Job</th><th scope="col">Name</th><th scope="col">User</th><th scope="col">Started</th><th scope="col">Duration</th><th scope="col">State</th></tr></thead>
        <tbody>
          <xsl:for-each select="$jobs">
            <tr>
              <th scope="row"><a><xsl:attribute name="href">#<xsl:call-template name="anchor"/></xsl:attribute><xsl:value-of select="normalize-space(*[local-name() = 'Id'])"/></a></th>
              <td><xsl:value-of select="normalize-space(*[local-name() = 'Name'])"/></td>
              <td><xsl:value-of select="normalize-space((*[local-name() = 'User'] | *[local-name() = 'Delivered']/*[local-name() = 'User'] | key('defaults', generate-id(..))[not(current()/User or current()/s:User)]/*[local-name() = 'User'])[1])"/></td>
              <td><xsl:apply-templates select="*[local-name() = 'StartTime']" mode="value"/></td>
              <td>
                <xsl:variable name="run" select="*[local-name() = 'Delivered']/*[local-name() = 'Duration']"/>
                <xsl:apply-templates select="($run | *[local-name() = 'Duration'][not($run)])[1]" mode="value"/>
              </td>
              <td><xsl:apply-templates select="*[local-name() = 'State']" mode="badge"/></td>
            </tr>
          </xsl:for-each>
        </tbody>
      </table>
    </nav>
  </xsl:template>


  <!-- Groups and jobs -->

  <xsl:template match="JobGroup | s:JobGroup">
    <section class="group">
      <header>
        <h1>
          <xsl:apply-templates select="." mode="title"/>
          <xsl:text> </xsl:text><xsl:apply-templates select="*[local-name() = 'State']" mode="badge"/>
        </h1>
        <p class="kind">Job group <code><xsl:value-of select="normalize-space(*[local-name() = 'Id'])"/></code></p>
        <xsl:for-each select="*[local-name() = 'Description']"><p><xsl:value-of select="."/></p></xsl:for-each>
      </header>
      <xsl:if test="not(parent::*) and count((Job | s:Job)[*]) &gt; 1">
        <xsl:call-template name="overview"><xsl:with-param name="jobs" select="(Job | s:Job)[*]"/></xsl:call-template>
      </xsl:if>
      <xsl:call-template name="times"/>
      <xsl:apply-templates select="*[local-name() = 'JobDefaults']" mode="defaults"/>
      <xsl:apply-templates select="*[local-name() = 'Job']"/>
    </section>
  </xsl:template>

  <xsl:template match="Job | s:Job">
    <article>
      <xsl:attribute name="id"><xsl:call-template name="anchor"/></xsl:attribute>
      <header>
        <xsl:element name="h{1 + boolean(parent::* or $title != '')}">
          <xsl:apply-templates select="." mode="title"/>
          <xsl:text> </xsl:text><xsl:apply-templates select="*[local-name() = 'State']" mode="badge"/>
        </xsl:element>
        <p class="kind">Job <code><xsl:value-of select="normalize-space(*[local-name() = 'Id'])"/></code></p>
        <xsl:for-each select="*[local-name() = 'StatusMessage']"><p class="message"><xsl:value-of select="."/></p></xsl:for-each>
      </header>
      <xsl:call-template name="contents"/>
    </article>
  </xsl:template>

  <!-- A reference: text and no elements -->
  <xsl:template match="*[self::Job or self::s:Job or self::JobGroup or self::s:JobGroup or self::TaskGroup or self::s:TaskGroup][not(*)]" priority="2">
    <p class="reference"><xsl:call-template name="label"/> <code><xsl:value-of select="normalize-space()"/></code>, defined elsewhere</p>
  </xsl:template>

  <xsl:template match="TaskGroup | s:TaskGroup">
    <section class="tasks">
      <h3>
        <xsl:text>Task group </xsl:text><xsl:apply-templates select="." mode="title"/>
        <xsl:if test="*[local-name() = 'Name']">
          <xsl:text> </xsl:text><code class="note"><xsl:value-of select="normalize-space(*[local-name() = 'Id'])"/></code>
        </xsl:if>
      </h3>
      <xsl:call-template name="contents"/>
      <xsl:variable name="tasks" select="*[local-name() = 'Task']"/>
      <xsl:if test="$tasks">
        <div class="wide"><table>
          <caption>Tasks</caption>
          <thead><tr><th scope="col">Task</th><th scope="col">Node</th><th scope="col">Process</th><th scope="col">Session</th></tr></thead>
          <tbody>
            <xsl:for-each select="$tasks">
              <tr>
                <th scope="row"><xsl:choose>
                  <xsl:when test="*[local-name() = 'Id']"><xsl:value-of select="normalize-space(*[local-name() = 'Id'])"/></xsl:when>
                  <xsl:when test="not(*)"><xsl:value-of select="normalize-space()"/> (defined elsewhere)</xsl:when>
                  <xsl:otherwise><xsl:value-of select="position()"/></xsl:otherwise>
                </xsl:choose></th>
                <td><xsl:value-of select="normalize-space(*[local-name() = 'Node'])"/></td>
                <td><xsl:value-of select="normalize-space(*[local-name() = 'Process'])"/></td>
                <td><xsl:value-of select="normalize-space(*[local-name() = 'Session'])"/></td>
              </tr>
            </xsl:for-each>
          </tbody>
        </table></div>
      </xsl:if>
      <xsl:apply-templates select="*[local-name() = 'TaskDefaults']" mode="defaults"/>
    </section>
  </xsl:template>

  <xsl:template match="*" mode="defaults">
    <details>
      <summary>Assumed by all <xsl:choose>
        <xsl:when test="local-name() = 'JobDefaults'">jobs</xsl:when>
        <xsl:when test="local-name() = 'TaskDefaults'">tasks</xsl:when>
        <xsl:otherwise>task groups</xsl:otherwise>
      </xsl:choose> unless they say otherwise</summary>
      <xsl:call-template name="contents"/>
      <xsl:apply-templates select="*[local-name() = 'TaskDefaults']" mode="defaults"/>
    </details>
  </xsl:template>

  <xsl:template match="*" mode="title">
    <xsl:value-of select="normalize-space((*[local-name() = 'Name'] | *[local-name() = 'Id'][not(../*[local-name() = 'Name'])])[1])"/>
  </xsl:template>

  <xsl:template match="*" mode="badge">
    <span class="state {translate(normalize-space(), concat($upper, ' '), concat($lower, '-'))}"><xsl:value-of select="normalize-space()"/></span>
  </xsl:template>

  <!-- Ids of jobs need not be unique, so they make no anchors -->
  <xsl:template name="anchor">job-<xsl:value-of select="generate-id()"/></xsl:template>


  <!-- What a job, a task group, and their defaults have in common -->

  <xsl:template name="contents">
    <div class="columns">
      <xsl:call-template name="times"/>
      <xsl:call-template name="comparison"/>
    </div>
    <xsl:call-template name="expressions"/>
    <xsl:call-template name="dependencies"/>
    <xsl:call-template name="properties"/>
    <xsl:call-template name="limits"/>
    <xsl:call-template name="environment"/>
    <xsl:apply-templates select="*[local-name() = 'TaskGroupDefaults']" mode="defaults"/>
    <xsl:apply-templates select="*[local-name() = 'TaskGroup']"/>
  </xsl:template>

  <xsl:template name="heading">
    <xsl:param name="text"/>
    <xsl:element name="h{3 + boolean(self::TaskGroup or self::s:TaskGroup)}">
      <xsl:attribute name="class">part</xsl:attribute>
      <xsl:value-of select="$text"/>
    </xsl:element>
  </xsl:template>

  <xsl:template name="times">
    <xsl:variable name="here" select="*[contains($moments, concat(' ', local-name(), ' '))]"/>
    <xsl:if test="$here">
      <table class="times">
        <caption>Times</caption>
        <tbody>
          <xsl:for-each select="$here">
            <xsl:sort select="number()" data-type="number"/>
            <tr><th scope="row"><xsl:call-template name="label"/></th><td><xsl:apply-templates select="." mode="value"/></td></tr>
          </xsl:for-each>
        </tbody>
      </table>
    </xsl:if>
  </xsl:template>

  <!-- One row for each name in Requested or Delivered -->
  <xsl:template name="comparison">
    <xsl:variable name="requested" select="(Requested | s:Requested)/*"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*"/>
    <xsl:variable name="all" select="$requested | $delivered"/>
    <xsl:if test="$all">
      <table class="comparison">
        <caption>Requested and delivered</caption>
        <thead><tr><th scope="col">Property</th><th scope="col">Requested</th><th scope="col">Delivered</th></tr></thead>
        <tbody>
          <xsl:for-each select="$all">
            <xsl:variable name="name" select="local-name()"/>
            <xsl:if test="count(. | $all[local-name() = $name][1]) = 1">
              <tr>
                <th scope="row"><xsl:call-template name="label"/></th>
                <td><xsl:apply-templates select="$requested[local-name() = $name]" mode="cell"/></td>
                <td><xsl:apply-templates select="$delivered[local-name() = $name]" mode="cell"/></td>
              </tr>
            </xsl:if>
          </xsl:for-each>
        </tbody>
      </table>
    </xsl:if>
  </xsl:template>

  <xsl:template match="*" mode="cell">
    <div>
      <xsl:if test="position() &gt; 1 and (@conj = 'Or' or @conj = 'Nor' or @conj = 'Nand')"><span class="word"><xsl:value-of select="translate(@conj, $upper, $lower)"/></span><xsl:text> </xsl:text></xsl:if>
      <xsl:apply-templates select="." mode="operation"/>
      <xsl:apply-templates select="." mode="value"/>
      <xsl:if test="@preference"><xsl:text> </xsl:text><span class="note">preference <xsl:value-of select="@preference"/></span></xsl:if>
    </div>
  </xsl:template>

  <xsl:template match="*" mode="operation"/>
  <xsl:template match="*[@op = 'NE']" mode="operation">&#x2260;&#xA0;</xsl:template>
  <xsl:template match="*[@op = 'LT']" mode="operation">&lt;&#xA0;</xsl:template>
  <xsl:template match="*[@op = 'GT']" mode="operation">&gt;&#xA0;</xsl:template>
  <xsl:template match="*[@op = 'LE']" mode="operation">&#x2264;&#xA0;</xsl:template>
  <xsl:template match="*[@op = 'GE']" mode="operation">&#x2265;&#xA0;</xsl:template>
  <xsl:template match="*[@op = 'Match']" mode="operation"><span class="word">like</span><xsl:text> </xsl:text></xsl:template>

  <!-- A Requested block that is more than a list of wishes, read aloud -->
  <xsl:template name="expressions">
    <xsl:for-each select="(Requested | s:Requested)[*/@conj or */@group]">
      <p class="expression"><span class="word">Requested:</span><xsl:text> </xsl:text>
        <xsl:for-each select="*">
          <xsl:if test="position() &gt; 1">
            <xsl:text> </xsl:text><span class="word"><xsl:value-of select="translate(concat(@conj, substring('And', 1, 3 * not(@conj))), $upper, $lower)"/></span><xsl:text> </xsl:text>
          </xsl:if>
          <xsl:value-of select="substring('((((((((((((((((', 1, number(concat('0', translate(@group, '+', ''))))"/>
          <xsl:call-template name="label"/><xsl:text> </xsl:text>
          <xsl:if test="not(@op) or @op = 'EQ'">= </xsl:if>
          <xsl:apply-templates select="." mode="operation"/>
          <xsl:apply-templates select="." mode="value"/>
          <xsl:if test="starts-with(normalize-space(@group), '-')">
            <xsl:value-of select="substring('))))))))))))))))', 1, number(translate(@group, '-', '')))"/>
          </xsl:if>
        </xsl:for-each>
      </p>
    </xsl:for-each>
  </xsl:template>

  <xsl:template name="dependencies">
    <xsl:variable name="here" select="*[local-name() = 'Dependency']"/>
    <xsl:if test="$here">
      <xsl:call-template name="heading"><xsl:with-param name="text">Runs after</xsl:with-param></xsl:call-template>
      <ul>
        <xsl:for-each select="$here">
          <xsl:variable name="text" select="normalize-space()"/>
          <xsl:variable name="target" select="(key('job-by-id', $text)[not(current()/@designator = 'JobName')] | key('job-by-name', $text)[current()/@designator = 'JobName'])[1]"/>
          <li>
            <xsl:choose>
              <xsl:when test="@condition = 'OnFailure'">failure</xsl:when>
              <xsl:when test="@condition = 'OnExit' and @code">exit with code <xsl:value-of select="@code"/></xsl:when>
              <xsl:when test="@condition = 'OnExit'">exit</xsl:when>
              <xsl:otherwise>success</xsl:otherwise>
            </xsl:choose>
            <xsl:text> of </xsl:text>
            <xsl:choose>
              <xsl:when test="$target">
                <a><xsl:for-each select="$target"><xsl:attribute name="href">#<xsl:call-template name="anchor"/></xsl:attribute></xsl:for-each><xsl:value-of select="$text"/></a>
              </xsl:when>
              <xsl:otherwise><code><xsl:value-of select="$text"/></code></xsl:otherwise>
            </xsl:choose>
          </li>
        </xsl:for-each>
      </ul>
    </xsl:if>
  </xsl:template>

  <xsl:template name="properties">
    <xsl:variable name="here" select="*[not(contains($shown, concat(' ', local-name(), ' ')))]"/>
    <xsl:if test="$here">
      <xsl:call-template name="heading"><xsl:with-param name="text">Properties</xsl:with-param></xsl:call-template>
      <dl>
        <xsl:for-each select="$here">
          <div>
            <dt><xsl:call-template name="label"/></dt>
            <dd><xsl:apply-templates select="." mode="value"/></dd>
          </div>
        </xsl:for-each>
      </dl>
    </xsl:if>
  </xsl:template>

  <xsl:template name="limits">
    <xsl:variable name="here" select="*[local-name() = 'ResourceLimit']"/>
    <xsl:if test="$here">
      <xsl:call-template name="heading"><xsl:with-param name="text">Resource limits</xsl:with-param></xsl:call-template>
      <dl>
        <xsl:for-each select="$here">
          <div><dt><xsl:value-of select="concat(@name, ' ')"/><span class="note"><xsl:value-of select="translate(@type, $upper, $lower)"/></span></dt><dd><xsl:value-of select="."/></dd></div>
        </xsl:for-each>
      </dl>
    </xsl:if>
  </xsl:template>

  <xsl:template name="environment">
    <xsl:for-each select="*[local-name() = 'Environment']">
      <details>
        <summary>Environment, <xsl:value-of select="count(*)"/> variable<xsl:if test="count(*) != 1">s</xsl:if><xsl:if test="translate(@export, 'T', 't') = 'true' or @export = '1'">, and all those of the submission</xsl:if></summary>
        <dl class="code">
          <xsl:for-each select="*"><div><dt><xsl:value-of select="@name"/></dt><dd><xsl:value-of select="."/></dd></div></xsl:for-each>
        </dl>
      </details>
    </xsl:for-each>
  </xsl:template>


  <!-- Values as people write them -->

  <xsl:template match="*" mode="value">
    <xsl:variable name="text" select="normalize-space()"/>
    <xsl:variable name="number" select="$text != '' and translate($text, $digits, '') = ''"/>
    <xsl:variable name="name" select="concat(' ', local-name(), ' ')"/>
    <xsl:choose>
      <xsl:when test="$number and contains($moments, $name)"><xsl:call-template name="moment"/></xsl:when>
      <xsl:when test="$number and contains($durations, $name)"><xsl:call-template name="duration"/></xsl:when>
      <xsl:when test="contains(' Checkpointable Interactive Restartable Suspendable ', $name) and contains(' true True 1 ', concat(' ', $text, ' '))">yes</xsl:when>
      <xsl:when test="contains(' Checkpointable Interactive Restartable Suspendable ', $name) and contains(' false False 0 ', concat(' ', $text, ' '))">no</xsl:when>
      <xsl:otherwise>
        <xsl:if test="@name"><xsl:value-of select="concat(@name, ' ')"/><xsl:if test="@type"><span class="note"><xsl:value-of select="concat(@type, ' ')"/></span></xsl:if></xsl:if>
        <xsl:value-of select="."/>
        <xsl:if test="@units"><xsl:text>&#xA0;</xsl:text><xsl:value-of select="@units"/></xsl:if>
        <xsl:if test="not(@units) and contains(' Memory Swap Disk ', $name)"><xsl:text>&#xA0;</xsl:text>MB</xsl:if>
      </xsl:otherwise>
    </xsl:choose>
    <xsl:for-each select="@metric | @context | @consumptionRate | @duration | @count | @aggregation | @dynamic | @redirectList | @uri | @type[not(../@name)]">
      <xsl:text> </xsl:text><span class="note"><xsl:choose>
        <xsl:when test="name() = 'consumptionRate'">at rate <xsl:value-of select="."/></xsl:when>
        <xsl:when test="name() = 'duration'">for <xsl:value-of select="."/>&#xA0;s</xsl:when>
        <xsl:when test="name() = 'count'"><xsl:value-of select="."/> times</xsl:when>
        <xsl:when test="name() = 'dynamic'">dynamic: <xsl:value-of select="."/></xsl:when>
        <xsl:when test="name() = 'uri'">to <xsl:value-of select="."/></xsl:when>
        <xsl:when test="name() = 'type'"><xsl:value-of select="."/></xsl:when>
        <xsl:otherwise><xsl:value-of select="translate(., $upper, $lower)"/></xsl:otherwise>
      </xsl:choose></span>
    </xsl:for-each>
  </xsl:template>

  <!-- 2003-04-28 19:21:53 UTC -->
  <xsl:template name="moment">
    <xsl:variable name="iso" select="date:add('1970-01-01T00:00:00Z', concat('PT', normalize-space(), 'S'))"/>
    <time datetime="{$iso}"><xsl:value-of select="concat(translate(substring-before($iso, 'Z'), 'T', ' '), ' UTC')"/></time>
  </xsl:template>

  <!-- 1 d 2 h 24 min 13 s -->
  <xsl:template name="duration">
    <xsl:variable name="all" select="number(normalize-space())"/>
    <xsl:variable name="days" select="floor($all div 86400)"/>
    <xsl:variable name="hours" select="floor($all div 3600) mod 24"/>
    <xsl:variable name="minutes" select="floor($all div 60) mod 60"/>
    <xsl:variable name="seconds" select="$all mod 60"/>
    <time datetime="PT{normalize-space()}S">
      <xsl:if test="$days"><xsl:value-of select="format-number($days, '0')"/>&#xA0;d </xsl:if>
      <xsl:if test="$hours"><xsl:value-of select="$hours"/>&#xA0;h </xsl:if>
      <xsl:if test="$minutes"><xsl:value-of select="$minutes"/>&#xA0;min </xsl:if>
      <xsl:if test="$seconds or $all = 0"><xsl:value-of select="$seconds"/>&#xA0;s</xsl:if>
    </time>
  </xsl:template>

  <!-- InitialWorkingDirectory as "Initial working directory" -->
  <xsl:template name="label">
    <xsl:param name="name" select="local-name()"/>
    <xsl:value-of select="substring($name, 1, 1)"/>
    <xsl:call-template name="lowered"><xsl:with-param name="name" select="substring($name, 2, 60)"/></xsl:call-template>
  </xsl:template>

  <xsl:template name="lowered">
    <xsl:param name="name"/>
    <xsl:if test="$name != ''">
      <xsl:variable name="letter" select="substring($name, 1, 1)"/>
      <xsl:if test="contains($upper, $letter)"><xsl:text> </xsl:text></xsl:if>
      <xsl:value-of select="translate($letter, $upper, $lower)"/>
      <xsl:call-template name="lowered"><xsl:with-param name="name" select="substring($name, 2)"/></xsl:call-template>
    </xsl:if>
  </xsl:template>


  <xsl:template name="style">
:root { --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --page: #f4f6f8; --accent: #1f5fa8;
  --good: #1d7a46; --bad: #b3261e; --busy: #1f5fa8; --wait: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #333c48; --paper: #1b2129;
  --page: #12161c; --accent: #82b6f2; --good: #6fcf97; --bad: #ff8a80; --busy: #82b6f2; --wait: #f2c46d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; }
h2, article h1 { font-size: 1.35rem; line-height: 1.25; margin: 0; }
h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
.part, caption { font-size: .8rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; color: var(--soft);
  text-align: left; margin: 1.25rem 0 .35rem; padding: 0; }
article, nav { background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1.25rem 1.5rem;
  margin: 1.25rem 0; overflow-x: auto; }
article:target { outline: 3px solid var(--accent); }
.tasks { border-left: 3px solid var(--line); padding-left: 1rem; margin-top: 1.5rem; }
.kind, .reference { color: var(--soft); margin: .1rem 0 .75rem; }
.message { border-left: 3px solid var(--wait); padding: .15rem .75rem; margin: .75rem 0; }
.columns { display: flex; flex-wrap: wrap; gap: 0 3rem; align-items: flex-start; }
.columns > table { margin-top: 1rem; }
.comparison { flex: 1 1 24rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
nav table { width: 100%; }
caption { margin: 0 0 .35rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem 1.25rem .3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
tbody tr:last-child > * { border-bottom: 0; }
th { font-weight: 500; }
thead th { overflow-wrap: normal; }
thead th, .times th, .comparison tbody th { color: var(--soft); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); gap: .15rem 2rem; margin: 0; }
dl > div { display: flex; gap: 1rem; justify-content: space-between; border-bottom: 1px solid var(--line); padding: .25rem 0; }
dt { color: var(--soft); flex: none; }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin-top: 1.25rem; }
@media (min-width: 48rem) { .comparison tbody th { white-space: nowrap; } }
dl.code { grid-template-columns: 1fr; font: .875rem/1.5 ui-monospace, monospace; }
code { font: .9em ui-monospace, monospace; }
.expression { margin: .75rem 0 0; }
.word, .note { color: var(--soft); font-size: .875em; }
.state { display: inline-block; font-size: .8rem; font-weight: 600; line-height: 1.6; padding: 0 .6rem; border-radius: 1rem;
  border: 1px solid currentColor; color: var(--soft); vertical-align: .15em; white-space: nowrap; }
.completed { color: var(--good); } .failed, .cancelled { color: var(--bad); }
.running, .active { color: var(--busy); } .idle, .hold, .suspended, .unstarted { color: var(--wait); }
details { margin-top: 1rem; } summary { cursor: pointer; color: var(--accent); }
a { color: var(--accent); } ul { margin: 0; padding-left: 1.25rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media print { body { background: none; font-size: 10.5pt; } main { max-width: none; padding: 0; }
  article, nav { border-color: #999; break-inside: avoid-page; } details > * { display: block; } }
  </xsl:template>
</xsl:stylesheet>
