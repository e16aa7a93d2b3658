<?xml version="1.0" encoding="UTF-8"?>
<!--
  Jobs to OGF Usage Records 1.0 (GFD.98).

  One JobUsageRecord for each Job, inside UsageRecords. What was delivered counts; where nothing
  was, what the job says of itself, and then what its JobDefaults say; what was requested never.
  Amounts are written in the largest unit at or below their own that keeps them whole, since usage
  records know integers only (and no TB). What has no place of its own becomes a Resource with the
  name as its description. A text that is no number where the schema wants one is left out. The
  parameter create-time, if given, is that of every record.
-->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:urf="http://schema.ogf.org/urf/2003/09/urf"
                xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP"
                xmlns:date="http://exslt.org/dates-and-times"
                xmlns:sheet="urn:sssjob:sheet" exclude-result-prefixes="s date sheet">

  <sheet:about stream="yes"
               before="&lt;urf:UsageRecords xmlns:urf=&quot;http://schema.ogf.org/urf/2003/09/urf&quot;&gt;"
               after="&lt;/urf:UsageRecords&gt;">jobs to OGF usage records 1.0 (GFD.98)</sheet:about>

  <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

  <xsl:param name="create-time"/>
  <xsl:param name="streamed"/>

  <!-- Looked up: who looks among the siblings of each job reads a group once for each of its jobs -->
  <xsl:key name="defaults" match="JobDefaults | s:JobDefaults" use="generate-id(..)"/>

  <xsl:variable name="upper">ABCDEFGHIJKLMNOPQRSTUVWXYZ</xsl:variable>
  <xsl:variable name="lower">abcdefghijklmnopqrstuvwxyz</xsl:variable>
  <xsl:variable name="digits">0123456789</xsl:variable>
  <xsl:variable name="most" select="9223372036854775807"/>


  <xsl:template match="/">
    <xsl:choose>
      <xsl:when test="$streamed = 'yes'"><xsl:call-template name="records"/></xsl:when>
      <xsl:otherwise>
        <urf:UsageRecords><xsl:call-template name="records"/></urf:UsageRecords>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Definitions, not references -->
  <xsl:template name="records">
    <xsl:apply-templates select="//Job[*] | //s:Job[*]"/>
  </xsl:template>

  <!-- The elements stand in the order that the schema of GFD.98 asks for -->
  <xsl:template match="Job | s:Job">
    <xsl:variable name="id"><xsl:call-template name="field"><xsl:with-param name="name">Id</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="global-id"><xsl:call-template name="field"><xsl:with-param name="name">GlobalId</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="machine"><xsl:call-template name="field"><xsl:with-param name="name">Machine</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="submitted"><xsl:call-template name="field"><xsl:with-param name="name">SubmitTime</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="started"><xsl:call-template name="field"><xsl:with-param name="name">StartTime</xsl:with-param></xsl:call-template></xsl:variable>

    <urf:JobUsageRecord>
      <urf:RecordIdentity>
        <xsl:attribute name="urf:recordId">
          <xsl:choose>
            <xsl:when test="$global-id != ''"><xsl:value-of select="$global-id"/></xsl:when>
            <xsl:otherwise><xsl:value-of select="translate(normalize-space(concat($machine, ' ', $id, ' ', $submitted, ' ', $started)), ' ', '/')"/></xsl:otherwise>
          </xsl:choose>
        </xsl:attribute>
        <xsl:if test="$create-time != ''">
          <xsl:attribute name="urf:createTime"><xsl:value-of select="$create-time"/></xsl:attribute>
        </xsl:if>
      </urf:RecordIdentity>
      <urf:JobIdentity>
        <xsl:if test="$global-id != ''"><urf:GlobalJobId><xsl:value-of select="$global-id"/></urf:GlobalJobId></xsl:if>
        <urf:LocalJobId><xsl:value-of select="$id"/></urf:LocalJobId>
        <xsl:for-each select=".//Process | .//s:Process">
          <urf:ProcessId><xsl:value-of select="normalize-space()"/></urf:ProcessId>
        </xsl:for-each>
      </urf:JobIdentity>
      <xsl:call-template name="user"/>
      <xsl:call-template name="text"><xsl:with-param name="name">Name</xsl:with-param><xsl:with-param name="as">JobName</xsl:with-param></xsl:call-template>
      <xsl:call-template name="charge"/>
      <urf:Status><xsl:call-template name="status"/></urf:Status>

      <!-- What may appear several times, by metric or type -->
      <xsl:call-template name="amounts"><xsl:with-param name="name">Disk</xsl:with-param></xsl:call-template>
      <xsl:call-template name="amounts"><xsl:with-param name="name">Memory</xsl:with-param></xsl:call-template>
      <xsl:call-template name="amounts"><xsl:with-param name="name">Swap</xsl:with-param></xsl:call-template>
      <xsl:call-template name="amounts"><xsl:with-param name="name">Network</xsl:with-param></xsl:call-template>
      <xsl:call-template name="duration"><xsl:with-param name="name">SuspendDuration</xsl:with-param><xsl:with-param name="as">TimeDuration</xsl:with-param><xsl:with-param name="type">suspended</xsl:with-param></xsl:call-template>
      <xsl:call-template name="time"><xsl:with-param name="name">SubmitTime</xsl:with-param><xsl:with-param name="as">TimeInstant</xsl:with-param><xsl:with-param name="type">ctime</xsl:with-param></xsl:call-template>
      <xsl:call-template name="time"><xsl:with-param name="name">EligibleTime</xsl:with-param><xsl:with-param name="as">TimeInstant</xsl:with-param><xsl:with-param name="type">etime</xsl:with-param></xsl:call-template>
      <xsl:call-template name="text"><xsl:with-param name="name">QualityOfService</xsl:with-param><xsl:with-param name="as">ServiceLevel</xsl:with-param></xsl:call-template>

      <!-- What may appear once, and hosts and resources -->
      <xsl:call-template name="wall-duration"/>
      <xsl:call-template name="duration"><xsl:with-param name="name">CpuDuration</xsl:with-param><xsl:with-param name="as">CpuDuration</xsl:with-param></xsl:call-template>
      <xsl:call-template name="count"><xsl:with-param name="name">NodeCount</xsl:with-param></xsl:call-template>
      <xsl:call-template name="count"><xsl:with-param name="name">Processors</xsl:with-param></xsl:call-template>
      <xsl:call-template name="time"><xsl:with-param name="name">EndTime</xsl:with-param><xsl:with-param name="as">EndTime</xsl:with-param></xsl:call-template>
      <xsl:call-template name="time"><xsl:with-param name="name">StartTime</xsl:with-param><xsl:with-param name="as">StartTime</xsl:with-param></xsl:call-template>
      <xsl:call-template name="host"><xsl:with-param name="text" select="$machine"/><xsl:with-param name="as">MachineName</xsl:with-param></xsl:call-template>
      <xsl:call-template name="host">
        <xsl:with-param name="text"><xsl:call-template name="field"><xsl:with-param name="name">SubmitHost</xsl:with-param></xsl:call-template></xsl:with-param>
        <xsl:with-param name="as">SubmitHost</xsl:with-param>
      </xsl:call-template>
      <xsl:call-template name="text"><xsl:with-param name="name">Queue</xsl:with-param><xsl:with-param name="as">Queue</xsl:with-param></xsl:call-template>
      <xsl:call-template name="text"><xsl:with-param name="name">Project</xsl:with-param><xsl:with-param name="as">ProjectName</xsl:with-param></xsl:call-template>
      <xsl:call-template name="hosts"/>
      <xsl:call-template name="resources"/>
    </urf:JobUsageRecord>
  </xsl:template>


  <!-- Values -->

  <!-- A property as text: delivered, else the job's own, else that of its defaults -->
  <xsl:template name="field">
    <xsl:param name="name"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = $name]"/>
    <xsl:variable name="own" select="*[local-name() = $name]"/>
    <xsl:choose>
      <xsl:when test="$delivered"><xsl:value-of select="normalize-space($delivered[1])"/></xsl:when>
      <xsl:when test="$own"><xsl:value-of select="normalize-space($own[1])"/></xsl:when>
      <xsl:when test="parent::* and $name != 'Id' and $name != 'GlobalId'">
        <xsl:value-of select="normalize-space((key('defaults', generate-id(..))/*[local-name() = $name])[1])"/>
      </xsl:when>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="text">
    <xsl:param name="name"/>
    <xsl:param name="as"/>
    <xsl:variable name="text"><xsl:call-template name="field"><xsl:with-param name="name" select="$name"/></xsl:call-template></xsl:variable>
    <xsl:if test="$text != ''">
      <xsl:element name="urf:{$as}"><xsl:value-of select="$text"/></xsl:element>
    </xsl:if>
  </xsl:template>

  <xsl:template name="user">
    <xsl:variable name="local"><xsl:call-template name="field"><xsl:with-param name="name">User</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="global"><xsl:call-template name="field"><xsl:with-param name="name">GlobalUser</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:if test="$local != '' or $global != ''">
      <urf:UserIdentity>
        <xsl:if test="$local != ''"><urf:LocalUserId><xsl:value-of select="$local"/></urf:LocalUserId></xsl:if>
        <xsl:if test="$global != ''"><urf:GlobalUserName><xsl:value-of select="$global"/></urf:GlobalUserName></xsl:if>
      </urf:UserIdentity>
    </xsl:if>
  </xsl:template>

  <xsl:template name="charge">
    <xsl:for-each select="(Charge | s:Charge)[1]">
      <xsl:variable name="amount"><xsl:call-template name="float"/></xsl:variable>
      <xsl:if test="$amount != ''">
        <urf:Charge>
          <xsl:if test="@units"><xsl:attribute name="urf:unit"><xsl:value-of select="@units"/></xsl:attribute></xsl:if>
          <xsl:value-of select="$amount"/>
        </urf:Charge>
      </xsl:if>
    </xsl:for-each>
  </xsl:template>

  <!-- aborted, completed, failed, held, queued, started, suspended, or the state as it is -->
  <!-- How far a job has come, and how it ended: the rule and the words of sssjob/states.py -->

  <xsl:variable name="bad-ends"> aborted canceled cancelled failed removed timedout </xsl:variable>
  <xsl:variable name="said-of-aborted">ABORT CANCEL DEADLINE NODE_FAIL PREEMPTED REMOVED REVOKED TERM_ TIMEOUT </xsl:variable>
  <xsl:variable name="said-of-failed">BOOT_FAIL FAIL OUT_OF_MEMORY </xsl:variable>

  <xsl:template name="status">
    <xsl:variable name="written"><xsl:call-template name="field"><xsl:with-param name="name">State</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="state" select="translate($written, $upper, $lower)"/>
    <xsl:variable name="exit"><xsl:call-template name="field"><xsl:with-param name="name">ExitCode</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="end"><xsl:call-template name="field"><xsl:with-param name="name">EndTime</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="start"><xsl:call-template name="field"><xsl:with-param name="name">StartTime</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="bad" select="$state != '' and not(contains($state, ' ')) and contains($bad-ends, concat(' ', $state, ' '))"/>
    <xsl:choose>
      <xsl:when test="$bad or $state = 'completed' or ($state = '' and ($exit != '' or $end != ''))">
        <xsl:call-template name="ending">
          <xsl:with-param name="state" select="$state"/>
          <xsl:with-param name="bad" select="$bad"/>
          <xsl:with-param name="exit" select="string($exit)"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:when test="$state = 'idle'">queued</xsl:when>
      <xsl:when test="$state = 'running'">started</xsl:when>
      <xsl:when test="$state = 'hold'">held</xsl:when>
      <xsl:when test="$state != ''"><xsl:value-of select="$state"/></xsl:when>
      <xsl:when test="$start != ''">started</xsl:when>
      <xsl:otherwise>queued</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Success is exit code 0 and nothing that speaks against it; what nobody knows has no other word -->
  <xsl:template name="ending">
    <xsl:param name="state"/>
    <xsl:param name="bad"/>
    <xsl:param name="exit"/>
    <xsl:variable name="written"><xsl:call-template name="field"><xsl:with-param name="name">StatusMessage</xsl:with-param></xsl:call-template></xsl:variable>
    <xsl:variable name="said" select="translate($written, $lower, $upper)"/>
    <xsl:variable name="aborted"><xsl:call-template name="begins"><xsl:with-param name="text" select="$said"/><xsl:with-param name="words" select="$said-of-aborted"/></xsl:call-template></xsl:variable>
    <xsl:variable name="failed"><xsl:call-template name="begins"><xsl:with-param name="text" select="$said"/><xsl:with-param name="words" select="$said-of-failed"/></xsl:call-template></xsl:variable>
    <xsl:variable name="own" select="(Extension | s:Extension)[@name = 'Signal']"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = 'Extension'][@name = 'Signal']"/>
    <xsl:variable name="default">
      <xsl:if test="parent::* and not($delivered or $own)">
        <xsl:value-of select="(key('defaults', generate-id(..))/*[local-name() = 'Extension'][@name = 'Signal'])[1]"/>
      </xsl:if>
    </xsl:variable>
    <xsl:variable name="signal" select="translate(normalize-space(concat(($delivered | $own[not($delivered)])[1], $default)), '0 ', '')"/>
    <xsl:variable name="unsigned" select="substring($exit, 1 + (starts-with($exit, '+') or starts-with($exit, '-')))"/>
    <xsl:choose>
      <xsl:when test="$aborted != '' or ($bad and $state != 'failed')">aborted</xsl:when>
      <xsl:when test="$failed != '' or $said = 'EXIT' or $bad or $signal != ''">failed</xsl:when>
      <xsl:when test="string-length($unsigned) &lt;= 4000 and translate($unsigned, $digits, '') = '' and translate($unsigned, '0', '') != ''">failed</xsl:when>
      <xsl:otherwise>completed</xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Something, if a text begins with one of these words, each with a blank behind it -->
  <xsl:template name="begins">
    <xsl:param name="text"/>
    <xsl:param name="words"/>
    <xsl:variable name="word" select="substring-before($words, ' ')"/>
    <xsl:choose>
      <xsl:when test="$word = ''"/>
      <xsl:when test="starts-with($text, $word)">yes</xsl:when>
      <xsl:otherwise>
        <xsl:call-template name="begins">
          <xsl:with-param name="text" select="$text"/>
          <xsl:with-param name="words" select="substring-after($words, ' ')"/>
        </xsl:call-template>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="time">
    <xsl:param name="name"/>
    <xsl:param name="as"/>
    <xsl:param name="type"/>
    <xsl:variable name="seconds"><xsl:call-template name="seconds"><xsl:with-param name="name" select="$name"/></xsl:call-template></xsl:variable>
    <!-- The calendar ends with the year 9999 -->
    <xsl:if test="$seconds != '' and $seconds &lt;= 253402300799">
      <xsl:element name="urf:{$as}">
        <xsl:if test="$type != ''"><xsl:attribute name="urf:type"><xsl:value-of select="$type"/></xsl:attribute></xsl:if>
        <xsl:value-of select="date:add('1970-01-01T00:00:00Z', concat('PT', $seconds, 'S'))"/>
      </xsl:element>
    </xsl:if>
  </xsl:template>

  <xsl:template name="duration">
    <xsl:param name="name"/>
    <xsl:param name="as"/>
    <xsl:param name="type"/>
    <xsl:variable name="seconds"><xsl:call-template name="seconds"><xsl:with-param name="name" select="$name"/></xsl:call-template></xsl:variable>
    <xsl:if test="$seconds != ''">
      <xsl:element name="urf:{$as}">
        <xsl:if test="$type != ''"><xsl:attribute name="urf:type"><xsl:value-of select="$type"/></xsl:attribute></xsl:if>
        <xsl:value-of select="concat('PT', $seconds, 'S')"/>
      </xsl:element>
    </xsl:if>
  </xsl:template>

  <!-- Duration outside of Delivered is a wish as long as the job has not started -->
  <xsl:template name="wall-duration">
    <xsl:if test="(Delivered | s:Delivered)/*[local-name() = 'Duration'] or StartTime or s:StartTime or EndTime or s:EndTime">
      <xsl:call-template name="duration"><xsl:with-param name="name">Duration</xsl:with-param><xsl:with-param name="as">WallDuration</xsl:with-param></xsl:call-template>
    </xsl:if>
  </xsl:template>

  <!-- A whole number from 0 on; more than 18 digits are no time that anybody measured -->
  <xsl:template name="seconds">
    <xsl:param name="name"/>
    <xsl:variable name="written"><xsl:call-template name="field"><xsl:with-param name="name" select="$name"/></xsl:call-template></xsl:variable>
    <xsl:variable name="text" select="translate($written, '+', '')"/>
    <xsl:if test="$text != '' and translate($text, $digits, '') = '' and string-length($text) &lt;= 18"><xsl:value-of select="$text"/></xsl:if>
  </xsl:template>


  <!-- Amounts -->

  <!-- Each delivered amount, else those of the job itself, with its metric -->
  <xsl:template name="amounts">
    <xsl:param name="name"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = $name]"/>
    <xsl:for-each select="$delivered | *[local-name() = $name][not($delivered)]">
      <xsl:variable name="units">
        <xsl:choose>
          <xsl:when test="@units"><xsl:value-of select="@units"/></xsl:when>
          <xsl:when test="$name != 'Network'">MB</xsl:when>
        </xsl:choose>
      </xsl:variable>
      <xsl:variable name="amount"><xsl:call-template name="number"/></xsl:variable>
      <xsl:variable name="whole">
        <xsl:call-template name="whole">
          <xsl:with-param name="amount" select="number($amount)"/>
          <xsl:with-param name="units" select="string($units)"/>
        </xsl:call-template>
      </xsl:variable>
      <xsl:variable name="digits-only" select="substring-before($whole, ' ')"/>
      <xsl:variable name="unit" select="substring-after($whole, ' ')"/>
      <xsl:if test="$digits-only != '' and $digits-only != '0'">
        <xsl:element name="urf:{$name}">
          <xsl:choose>
            <xsl:when test="contains(' B KB MB GB PB EB ', concat(' ', $unit, ' ')) and $unit != ''">
              <xsl:attribute name="urf:storageUnit"><xsl:value-of select="$unit"/></xsl:attribute>
            </xsl:when>
            <xsl:when test="$unit != ''">
              <xsl:attribute name="urf:description"><xsl:value-of select="concat('units ', $unit)"/></xsl:attribute>
            </xsl:when>
          </xsl:choose>
          <xsl:if test="@metric">
            <xsl:attribute name="urf:metric"><xsl:value-of select="translate(@metric, $upper, $lower)"/></xsl:attribute>
          </xsl:if>
          <xsl:value-of select="$digits-only"/>
        </xsl:element>
      </xsl:if>
    </xsl:for-each>
  </xsl:template>

  <!-- "2029372047 B" of 1.89 GB: down the units as long as there is a fraction or no such unit -->
  <xsl:template name="whole">
    <xsl:param name="amount"/>
    <xsl:param name="units"/>
    <xsl:variable name="smaller" select="substring-before(substring-after(' DB&lt;NB NB&lt;YB YB&lt;ZB ZB&lt;EB EB&lt;PB PB&lt;TB TB&lt;GB GB&lt;MB MB&lt;KB KB&lt;B ', concat(' ', $units, '&lt;')), ' ')"/>
    <xsl:variable name="named" select="not(contains(' TB ZB YB NB DB ', concat(' ', $units, ' ')))"/>
    <xsl:choose>
      <xsl:when test="not($amount &gt; 0 and $amount &lt; $most)"/>
      <xsl:when test="$smaller != '' and (not($named) or floor($amount) != $amount)">
        <xsl:call-template name="whole">
          <xsl:with-param name="amount" select="$amount * 1024"/>
          <xsl:with-param name="units" select="$smaller"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="concat(format-number(round($amount), '0'), ' ', $units)"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- A text as it is, if it is a Float of XML Schema, and else nothing -->
  <xsl:template name="float">
    <xsl:param name="text" select="normalize-space()"/>
    <xsl:variable name="unsigned" select="substring($text, 1 + (starts-with($text, '+') or starts-with($text, '-')))"/>
    <xsl:variable name="parts" select="translate($unsigned, 'E', 'e')"/>
    <xsl:variable name="mantissa" select="substring-before(concat($parts, 'e'), 'e')"/>
    <xsl:variable name="power" select="substring-after($parts, 'e')"/>
    <xsl:variable name="exponent" select="substring($power, 1 + (starts-with($power, '+') or starts-with($power, '-')))"/>
    <xsl:variable name="good-mantissa" select="translate($mantissa, concat($digits, '.'), '') = '' and translate($mantissa, '.', '') != '' and not(contains(substring-after($mantissa, '.'), '.'))"/>
    <xsl:variable name="good-exponent" select="not(contains($parts, 'e')) or ($exponent != '' and translate($exponent, $digits, '') = '')"/>
    <xsl:if test="$good-mantissa and $good-exponent"><xsl:value-of select="$text"/></xsl:if>
  </xsl:template>

  <!-- A Float of XML Schema as XPath 1.0 reads numbers: no plus sign, no exponent -->
  <xsl:template name="number">
    <xsl:variable name="text" select="translate(normalize-space(), 'E', 'e')"/>
    <xsl:choose>
      <xsl:when test="contains($text, 'e')">
        <xsl:call-template name="scaled">
          <xsl:with-param name="mantissa" select="number(translate(substring-before($text, 'e'), '+', ''))"/>
          <xsl:with-param name="exponent" select="number(translate(substring-after($text, 'e'), '+', ''))"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="translate($text, '+', '')"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="scaled">
    <xsl:param name="mantissa"/>
    <xsl:param name="exponent"/>
    <xsl:choose>
      <xsl:when test="$exponent &gt; 0 and $exponent &lt; 30">
        <xsl:call-template name="scaled">
          <xsl:with-param name="mantissa" select="$mantissa * 10"/>
          <xsl:with-param name="exponent" select="$exponent - 1"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:when test="$exponent &lt; 0 and $exponent &gt; -30">
        <xsl:call-template name="scaled">
          <xsl:with-param name="mantissa" select="$mantissa div 10"/>
          <xsl:with-param name="exponent" select="$exponent + 1"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:when test="$exponent = 0"><xsl:value-of select="format-number($mantissa, '0.##################')"/></xsl:when>
    </xsl:choose>
  </xsl:template>

  <!-- NodeCount and Processors: one number, the sum of what was delivered in several places -->
  <xsl:template name="count">
    <xsl:param name="name"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = $name]"/>
    <xsl:variable name="counted" select="$delivered | *[local-name() = $name][not($delivered)]"/>
    <xsl:variable name="total" select="sum($counted)"/>
    <xsl:if test="$total &gt;= 1 and $total &lt; $most">
      <xsl:variable name="rate"><xsl:call-template name="float"><xsl:with-param name="text" select="normalize-space($counted/@consumptionRate)"/></xsl:call-template></xsl:variable>
      <xsl:element name="urf:{$name}">
        <xsl:if test="count($counted) = 1 and $name = 'Processors' and $rate != ''">
          <xsl:attribute name="urf:consumptionRate"><xsl:value-of select="$rate"/></xsl:attribute>
        </xsl:if>
        <xsl:value-of select="format-number($total, '0')"/>
      </xsl:element>
    </xsl:if>
  </xsl:template>


  <!-- Hosts -->

  <!-- The nodes of tasks, else those delivered, else those of the job; patterns name no host -->
  <xsl:template name="hosts">
    <xsl:variable name="of-tasks" select=".//Task/Node | .//s:Task/s:Node"/>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = 'Node']"/>
    <xsl:for-each select="$of-tasks | ($delivered | *[local-name() = 'Node'][not($delivered)])[not($of-tasks)]">
      <xsl:choose>
        <xsl:when test="not(@aggregation)">
          <xsl:call-template name="host"><xsl:with-param name="text" select="normalize-space()"/><xsl:with-param name="as">Host</xsl:with-param></xsl:call-template>
        </xsl:when>
        <xsl:when test="@aggregation = 'List'">
          <xsl:call-template name="listed">
            <xsl:with-param name="list" select="string()"/>
            <xsl:with-param name="delimiter" select="concat(@delimiter, substring(',', 1, not(@delimiter)))"/>
          </xsl:call-template>
        </xsl:when>
        <xsl:when test="@aggregation = 'Range'">
          <urf:Resource urf:description="Node"><xsl:value-of select="normalize-space()"/></urf:Resource>
        </xsl:when>
      </xsl:choose>
    </xsl:for-each>
  </xsl:template>

  <xsl:template name="listed">
    <xsl:param name="list"/>
    <xsl:param name="delimiter"/>
    <xsl:choose>
      <!-- Halving the list keeps the calls few where it is long -->
      <xsl:when test="$delimiter != '' and contains($list, $delimiter)">
        <xsl:variable name="half" select="floor(string-length($list) div 2)"/>
        <xsl:variable name="tail" select="substring-after(substring($list, $half), $delimiter)"/>
        <xsl:choose>
          <xsl:when test="contains(substring($list, $half), $delimiter)">
            <xsl:call-template name="listed"><xsl:with-param name="list" select="substring($list, 1, string-length($list) - string-length($tail) - string-length($delimiter))"/><xsl:with-param name="delimiter" select="$delimiter"/></xsl:call-template>
            <xsl:call-template name="listed"><xsl:with-param name="list" select="$tail"/><xsl:with-param name="delimiter" select="$delimiter"/></xsl:call-template>
          </xsl:when>
          <xsl:otherwise>
            <xsl:call-template name="listed"><xsl:with-param name="list" select="substring-before($list, $delimiter)"/><xsl:with-param name="delimiter" select="$delimiter"/></xsl:call-template>
            <xsl:call-template name="listed"><xsl:with-param name="list" select="substring-after($list, $delimiter)"/><xsl:with-param name="delimiter" select="$delimiter"/></xsl:call-template>
          </xsl:otherwise>
        </xsl:choose>
      </xsl:when>
      <xsl:otherwise>
        <xsl:call-template name="host"><xsl:with-param name="text" select="normalize-space($list)"/><xsl:with-param name="as">Host</xsl:with-param></xsl:call-template>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- A domain name in its element; any other name, which the schema refuses there, in a Resource -->
  <xsl:template name="host">
    <xsl:param name="text"/>
    <xsl:param name="as"/>
    <xsl:variable name="fault"><xsl:call-template name="domain-fault"><xsl:with-param name="name" select="$text"/></xsl:call-template></xsl:variable>
    <xsl:choose>
      <xsl:when test="$text = ''"/>
      <xsl:when test="$fault = '' and string-length($text) &lt;= 255"><xsl:element name="urf:{$as}"><xsl:value-of select="$text"/></xsl:element></xsl:when>
      <xsl:otherwise><urf:Resource urf:description="{$as}"><xsl:value-of select="$text"/></urf:Resource></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Nothing for labels of two or more letters, digits and inner hyphens, between dots -->
  <xsl:template name="domain-fault">
    <xsl:param name="name"/>
    <xsl:param name="labels" select="128"/>
    <xsl:variable name="label" select="substring-before(concat($name, '.'), '.')"/>
    <xsl:choose>
      <xsl:when test="$labels = 0">1</xsl:when>
      <xsl:when test="string-length($label) &lt; 2 or translate($label, concat($upper, $lower, $digits, '-'), '') != '' or starts-with($label, '-') or substring($label, string-length($label)) = '-'">1</xsl:when>
      <xsl:when test="contains($name, '.')">
        <xsl:call-template name="domain-fault">
          <xsl:with-param name="name" select="substring-after($name, '.')"/>
          <xsl:with-param name="labels" select="$labels - 1"/>
        </xsl:call-template>
      </xsl:when>
    </xsl:choose>
  </xsl:template>


  <!-- What has no element of its own -->

  <xsl:template name="resources">
    <xsl:for-each select="ExitCode | s:ExitCode | StatusMessage | s:StatusMessage | Group | s:Group | (Delivered | s:Delivered)/*[local-name() = 'Group'][not(../../Group or ../../s:Group)] | Partition | s:Partition">
      <urf:Resource urf:description="{local-name()}"><xsl:value-of select="normalize-space()"/></urf:Resource>
    </xsl:for-each>
    <xsl:for-each select="Extension | s:Extension">
      <urf:Resource urf:description="{normalize-space(concat(@type, ' ', @name))}"><xsl:value-of select="."/></urf:Resource>
    </xsl:for-each>
    <xsl:variable name="delivered" select="(Delivered | s:Delivered)/*[local-name() = 'Resource']"/>
    <xsl:for-each select="$delivered | (Resource | s:Resource)[not($delivered)]">
      <xsl:variable name="amount"><xsl:call-template name="float"/></xsl:variable>
      <xsl:if test="$amount != ''">
        <urf:ConsumableResource urf:description="{normalize-space(concat(@name, ' ', @type))}">
          <xsl:if test="@units"><xsl:attribute name="urf:units"><xsl:value-of select="@units"/></xsl:attribute></xsl:if>
          <xsl:value-of select="$amount"/>
        </urf:ConsumableResource>
      </xsl:if>
    </xsl:for-each>
  </xsl:template>
</xsl:stylesheet>
